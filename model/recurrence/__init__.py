"""A toy translation by three models: recurrent with a fixed vector, with attention, Transformer."""
