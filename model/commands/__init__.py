"""The commands of `python -m model COMMAND`, a module for each."""
