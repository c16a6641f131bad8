"""The sketch: a digit drawn by hand, what a vision model says of it, and what it looks at."""
