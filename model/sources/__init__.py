"""Where models come from: each source opens its models by name."""
