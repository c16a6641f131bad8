"""What a part of the model does: its share in an answer, and the run without it."""
