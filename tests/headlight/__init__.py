"""Tests of what `import headlight as hl` gives."""
