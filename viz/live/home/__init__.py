"""Home: the words of the sentence, one head, and what comes next, alive at once."""
