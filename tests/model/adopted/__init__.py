"""Tests of models that transformers builds."""
