"""Lessons: the formulas as things to hold, each ending at the running model."""
