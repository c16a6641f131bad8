"""The writer: a text while it is generated, and what each new token attended to."""
