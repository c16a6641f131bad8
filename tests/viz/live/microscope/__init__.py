"""Tests of viz.live.microscope."""
