"""The commands: `python -m model COMMAND`.

A new one is a module here with `add_arguments` and `run`, as in `cli.Command`, and its entry in
`COMMANDS`. This file imports nothing heavy, so that `python -m model --help` answers at once.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class About:
    """What help says of a command: one line, and a line to try."""

    summary: str
    example: str


COMMANDS = {
    "train": About(
        "train a model as a recipe says, and leave a checkpoint",
        "python -m model train assets/recipes/stories.toml --corpus a.txt b.txt --out my-model",
    ),
    "evaluate": About(
        "measure how well a model predicts a text",
        "python -m model evaluate --checkpoint stories --text-file a.txt",
    ),
    "generate": About(
        "continue a prompt or translate it, by sampling, greedily or by beam search",
        'python -m model generate --checkpoint stories --prompt "Once upon a time"',
    ),
    "survey": About(
        "measure what every head does on a whole text, and store it with the checkpoint",
        "python -m model survey --checkpoint stories --text-file a.txt b.txt --processes 2",
    ),
    "trace": About(
        "write every intermediate of one sentence to an .npz file",
        'python -m model trace --checkpoint stories --text "The cat sat." --out cat.npz',
    ),
    "check": About(
        "run one sentence through a model and prove its numbers by another route",
        'python -m model check --checkpoint stories --text "The cat sat."',
    ),
}
