"""Tests of viz.kit.parts.attention."""
