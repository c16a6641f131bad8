"""Tests of viz.figures."""
