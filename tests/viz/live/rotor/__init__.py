"""Tests of viz.live.rotor."""
