"""The self-check of a run: its arrays recomputed by another route, with the largest errors."""
