"""The pages of Headlight: figures, formulas and controls around the model's own numbers."""

VERSION = "0.12.0"  # CHANGELOG.md says what is in it
