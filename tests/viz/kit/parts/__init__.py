"""Tests of viz.kit.parts."""
