"""Tests of the translation."""
