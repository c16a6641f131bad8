"""Tests of viz.live.by_hand."""
