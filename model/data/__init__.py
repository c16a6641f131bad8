"""What models learn from: text as numbers, and the order in which it is shown."""
