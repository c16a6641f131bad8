"""Tests of viz.kit."""
