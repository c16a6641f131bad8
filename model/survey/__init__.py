"""Every head of a model measured on a whole text: its windows, their sums, and what is stored."""
