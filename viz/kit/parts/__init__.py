"""Parts: each a module for the browser, and what Python says of it."""
