"""What all instruments share: forms of data for the browser in Python, a base in JavaScript."""
