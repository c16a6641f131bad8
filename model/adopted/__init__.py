"""Models that transformers builds, run so that the house's tap sees what passes through them."""
