"""The rotor: pairs of dimensions that rotate with their position."""
