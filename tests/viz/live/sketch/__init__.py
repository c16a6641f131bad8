"""Tests of the sketch."""
