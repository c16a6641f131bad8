"""What the sentence box is sent: the text, and what stands there while there is none."""

from viz.kit.wire import Data

SENTENCE_BOX = "sentence_box"


def sentence_data(text: str, *, has_caret: bool, label: str = "Sentence") -> Data:
    """The text of the box, and what it is called.

    `has_caret` has it take the keyboard when the page is opened.
    """
    return {
        "instrument": SENTENCE_BOX,
        "key": SENTENCE_BOX,
        "label": label,
        "placeholder": "Type a sentence",
        "has_caret": has_caret,
        "settings": {"sentence": text},
    }
