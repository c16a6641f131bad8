"""One model of each kind that is not a decoder, on what it was trained for."""
