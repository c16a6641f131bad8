"""Whether a text is in the language that a translator does not read."""

import re

# The most frequent words of either language that the other does not have.
ENGLISH = {
    *("the", "a", "an", "and", "of", "to", "is", "are", "with", "on", "at", "by", "for", "from"),
    *("his", "her", "their", "it", "this", "that", "two", "three", "man", "woman", "people"),
}
GERMAN = {
    *("der", "die", "das", "den", "dem", "des", "ein", "eine", "einen", "einem", "einer", "und"),
    *("ist", "sind", "mit", "auf", "im", "am", "zu", "von", "für", "bei", "nicht", "sich", "ich"),
    *("wir", "sie", "zwei", "drei", "mann", "frau"),
}
LETTERS = re.compile(r"[äöüß]", re.IGNORECASE)


def looks_german(text: str) -> bool:
    """Whether a text has more German function words and letters than English function words."""
    words = re.findall(r"\w+", text.lower())
    german = sum(word in GERMAN or bool(LETTERS.search(word)) for word in words)
    return german > sum(word in ENGLISH for word in words)
