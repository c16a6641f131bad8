"""Tests of viz.pages."""
