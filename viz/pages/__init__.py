"""One module a page: TITLE, ICON and render()."""
