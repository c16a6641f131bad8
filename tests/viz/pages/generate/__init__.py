"""Tests of the pages under Generate."""
