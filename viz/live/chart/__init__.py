"""A figure made in Python, drawn again in its place when it changes."""
