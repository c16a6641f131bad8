"""What a model does with the sentence: its tokens, its heads, its layers."""
