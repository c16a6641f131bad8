"""Tests of the pages under Experiments."""
