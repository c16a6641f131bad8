"""Headlight in a notebook or a script: `import headlight as hl`.

    m = hl.open("stories")         # a shipped model, any folder of transformers, or one in memory
    run = m("One day a fox ran.")  # its picture: every head of every layer, live
    run.attention(2, 3)            # layer 2, head 3: a numpy array, (Tq, Tk)
    hl.attention(arrays, tokens)   # the same picture of arrays of any framework, without a model

What a person gets wrong is a ValueError of one line; what is to be known is a warning.
"""

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from headlight import where

where.enter()

from headlight.arrays import attention  # noqa: E402

if TYPE_CHECKING:
    from headlight.opened import Model

__all__ = ["attention", "open"]


def open(model: Any, tokenizer: Any = None, *, device: str = "auto") -> "Model":  # noqa: ANN401
    """Open a model: the name of a shipped one, a folder or file, or one of transformers in memory.

    The last needs its tokenizer, stays on its device and is used as it is, not copied. From
    then on it is in evaluation mode; all else is left as it was, so it can be copied, saved and
    trained as before.
    """
    from headlight.opened import opened  # here, since it loads torch

    loaded = opened(model, tokenizer, device)
    _prepare_notebook()
    return loaded


def _prepare_notebook() -> None:
    """Where a picture can follow, what all need is sent while a person writes the next line."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if hasattr(shell, "kernel"):
        with suppress(ModuleNotFoundError):  # the picture says what is missing
            from viz.kit.hosts.jupyter import prepare

            prepare()
