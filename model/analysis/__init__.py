"""Questions asked of finished traces, or of a model by running it."""
