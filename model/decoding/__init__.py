"""From logits to text: filters, sampling, beam search, and the cache of keys and values."""
