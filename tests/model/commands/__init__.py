"""What protects the commands."""
