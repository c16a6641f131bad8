"""What protects training: the parts of it, and a run as a whole."""
