"""Tests of viz.live.sentence_box."""
