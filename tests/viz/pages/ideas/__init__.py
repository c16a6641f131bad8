"""Tests of the pages under Ideas."""
