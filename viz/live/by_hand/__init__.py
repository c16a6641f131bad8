"""Attention by hand: numbers to change cell by cell, and every step of them."""
