"""One module or folder per page, which makes one `PAGE`."""
