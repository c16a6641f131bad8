"""Where parts run: a page of the app, a notebook, a file. What a host carries, `Part` says."""
