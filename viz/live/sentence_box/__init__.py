"""The sentence box: a text of several lines, sent while it is typed."""
