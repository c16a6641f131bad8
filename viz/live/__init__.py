"""The app's own page in the browser: it shows parts, and answers them by routes."""
