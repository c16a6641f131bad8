"""A translation: two rows of words, three kinds of attention, and what else might follow."""
