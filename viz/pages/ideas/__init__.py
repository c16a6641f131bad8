"""The ideas a Transformer is made of, each on the model that runs."""
