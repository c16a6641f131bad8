"""Tests of viz.live.editor."""
