"""One module or folder per page: TITLE, ICON, NEEDS and render(view)."""
