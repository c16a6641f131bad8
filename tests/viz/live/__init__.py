"""Tests of viz/live."""
