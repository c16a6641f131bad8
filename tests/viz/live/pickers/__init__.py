"""Tests of viz.live.pickers."""
