"""Faults planted one at a time, to see who would notice: `python -m tests.sabotage`."""
