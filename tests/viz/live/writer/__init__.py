"""Tests of viz.live.writer."""
