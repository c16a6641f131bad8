"""What the sentence box is sent: the text, and what stands there while there is none."""

from viz.kit.part import Part


def sentence_part(text: str, *, has_caret: bool, label: str = "Sentence") -> Part:
    """The text of the box, and what it is called.

    `has_caret` has it take the keyboard when the page is opened.
    """
    spec = {
        "key": "sentence_box",
        "label": label,
        "placeholder": "Type a sentence",
        "has_caret": has_caret,
    }
    return Part("sentence_box", spec, {"sentence": text})
