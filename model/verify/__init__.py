"""The self-check: recompute what is shown, by another route, and say how far off it is."""
