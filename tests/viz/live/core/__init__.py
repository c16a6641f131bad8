"""Tests of viz.live.core."""
