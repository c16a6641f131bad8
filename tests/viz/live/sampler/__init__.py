"""Tests of viz.live.sampler."""
