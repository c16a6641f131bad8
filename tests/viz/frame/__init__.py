"""Tests of viz.frame."""
