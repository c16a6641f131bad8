"""Protects the command and the notebook: what stands above the app."""
