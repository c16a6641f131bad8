"""The sampler: the next token's distribution, redrawn while a slider moves."""
