"""The pages of Headlight: figures, formulas and controls around the model's own numbers."""
