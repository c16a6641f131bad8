"""Tests of the Home instrument."""
