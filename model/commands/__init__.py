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
    "recipe": About(
        "print a recipe to begin with, and what each of its fields means",
        "python -m model recipe --small",
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
    "patch": About(
        "put values of one sentence into another and see what brings the answer back",
        'python -m model patch --checkpoint stories --text "The girl lost the ball, so" '
        '--second "The boy lost the ball, so"',
    ),
    "circuit": About(
        "follow an answer back to the words, edge by edge, against another sentence",
        'python -m model circuit --checkpoint stories --text "The girl lost the ball, so" '
        '--second "The boy lost the ball, so"',
    ),
    "check": About(
        "run one sentence through a model and recompute it by another route",
        'python -m model check --checkpoint stories --text "The cat sat."',
    ),
    "attribute": About(
        "say what each part of a model adds to one logit",
        'python -m model attribute --checkpoint stories --text "The cat sat on the"',
    ),
    "why": About(
        "say why a head looks from one token to another: its score as an exact sum",
        'python -m model why --checkpoint stories --text "The red ball and the blue ball" '
        "--layer 1 --head 6 --query 6 --key 5",
    ),
    "ablate": About(
        "switch parts of a model off and say what that costs on one input",
        'python -m model ablate --checkpoint stories --text "The cat sat." --off decoder.attn.2.4',
    ),
    "scale": About(
        "train models of several sizes on several numbers of tokens, for a scaling law",
        "python -m model scale assets/scaling/recipe.toml --corpus a.txt --held-out b.txt "
        "--out runs --beside stories",
    ),
}
