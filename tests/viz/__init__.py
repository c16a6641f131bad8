"""What protects the pages: their colours, labels, figures, formulas, numbers and messages."""
