"""What protects the data: text files, batches, tokenizers."""
