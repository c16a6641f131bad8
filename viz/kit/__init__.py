"""What answers while the hand moves: marks, parts made of them, and three hosts."""
