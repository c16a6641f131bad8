"""Pickers: lists to choose from, side by side."""
