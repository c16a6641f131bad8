"""The editor: a mask edited by hand, and what the model makes of it."""
