"""Tests of the pages under Start."""
