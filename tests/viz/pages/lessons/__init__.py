"""Tests of viz.pages.lessons."""
