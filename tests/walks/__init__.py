"""The whole app in a real browser, as people use it."""
