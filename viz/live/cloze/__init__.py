"""Cloze: words that are hidden, and what an encoder predicts in their places."""
