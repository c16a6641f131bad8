"""Tests of the cloze."""
