"""Tests of the pages of experiments."""
