"""Tests of the pages under Look inside."""
