"""Logits of one text when a model was saved: what is opened later must give them again.

They are of `model.reference`, so they are neither the saving program's nor the opening one's.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from model import reference
from model.architectures.base import Model
from model.files import LARGEST_CONFIG, read_json, replacing
from model.verify.check import Check, relative_error

RECORDED = "recorded.json"
KEPT = 16  # logits: those of the most likely next tokens
ALLOWED = 1e-5
REPRODUCED = "logits of a recorded text = those recorded when the model was saved"


def record(folder: Path, inputs: Mapping[str, list[Any]]) -> None:
    """Note what the files of a folder make of an input, in the folder.

    inputs: ids or pixels of a batch of one, by the names of the model's `forward`.
    """
    rows = [np.array(batch[0]) for batch in inputs.values()]
    given = rows[0] if len(rows) == 1 else tuple(rows)
    *_, (_, logits) = reference.arrays(reference.read(folder), given)  # the last array: (T, V)
    leading = np.argsort(-logits[-1], kind="stable")[:KEPT]
    noted = {name: batch[0] for name, batch in inputs.items()}
    noted |= {"logits": {int(i): float(logits[-1][i]) for i in leading}}
    with replacing(folder / RECORDED) as path:
        path.write_text(json.dumps(noted, indent=1) + "\n", encoding="utf-8")


def check_recorded(folder: Path, model: Model) -> tuple[Check, ...]:
    """Whether a running model gives what its folder notes; nothing where nothing is noted.

    What cannot be read as a note is a check that failed, saying why.
    """
    if not (folder / RECORDED).exists():
        return ()
    try:
        noted = read_json(folder / RECORDED, LARGEST_CONFIG)
        leading = {int(i): float(logit) for i, logit in noted["logits"].items()}
        inputs = {name: row for name, row in noted.items() if name != "logits"}
        batch = {name: torch.tensor([row], device=model.device) for name, row in inputs.items()}
        with torch.inference_mode():
            logits = model(**batch).flatten(0, -2)[-1].cpu().numpy()
        given, expected = logits[list(leading)], np.array(list(leading.values()))
    except (ValueError, TypeError, KeyError, AttributeError, IndexError, RuntimeError) as error:
        why = f"{REPRODUCED}: {RECORDED} cannot be used ({type(error).__name__})"
        return (Check(why, math.inf, ALLOWED),)
    return (Check(REPRODUCED, relative_error(given, expected) if leading else math.inf, ALLOWED),)
