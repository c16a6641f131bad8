"""The models whose cost is counted: the one above, published ones, and a person's own."""

import tomllib
from dataclasses import dataclass
from typing import Any

from model.analysis.seen import Seen
from model.analysis.sizes import Experts, Latent, Shape
from viz.frame import ASSETS, controls, layout, memory, settings, words
from viz.frame.view import View
from viz.runs import counting

OWN = "your own"
OWN_SIZES = (  # in the order of the setting
    *("n_layers", "d_model", "d_ff", "n_heads", "n_kv_heads", "d_head", "vocab_size", "positions"),
)
LAST_OWN = "own-sizes"  # those of this visitor that went together


@dataclass(frozen=True)
class Sized:
    """A model by its sizes."""

    name: str
    shape: Shape | Seen
    source: str = ""


def known() -> list[Sized]:
    """The models of assets/known_shapes.toml."""
    text = (ASSETS / "known_shapes.toml").read_text(encoding="utf-8")
    return [_published(entry) for entry in tomllib.loads(text)["model"]]


def _published(entry: dict) -> Sized:
    sizes = {key: value for key, value in entry.items() if key not in ("name", "source")}
    if "latent" in sizes:
        sizes["latent"] = Latent(**sizes["latent"])
    if "experts" in sizes:
        sizes["experts"] = Experts(**sizes["experts"])
    return Sized(entry["name"], Shape(**sizes), entry["source"])


def running(view: View) -> Sized:
    """The model above, of any architecture."""
    return Sized(view.model, counting.sizes(view.handle), "the model above")


def chosen(models: list[Sized], context: int) -> tuple[Sized, int]:
    """The model to count, and for how many tokens, at first the context of the model above."""
    names = (*(one.name for one in models), OWN)
    with layout.slim_row("cost"):
        name = controls.select(settings.SHAPE.given(options=names, default=names[0]), width=260)
        n_tokens = controls.number(settings.CONTEXT.given(label="Tokens", default=context))
    if name == OWN:
        return Sized(OWN, _own()), n_tokens
    return next(one for one in models if one.name == name), n_tokens


def _own() -> Shape:
    """The sizes a person typed."""
    with layout.slim_row("own-sizes"):
        *sizes, kind, tied = controls.parts(settings.OWN)
    is_gpt = kind == "gpt"
    return _fitting(
        {
            **dict(zip(OWN_SIZES, sizes, strict=True)),
            "norm_vectors": 2 if is_gpt else 1,
            "biases": is_gpt,
            "gated": not is_gpt,
            "tied": tied == "tied",
        }
    )


def _fitting(sizes: dict[str, Any]) -> Shape:
    """The shape of these sizes; where they do not go together, a line and the last that did.

    Where there was none yet, with the most KV heads that the heads can share evenly.
    """
    try:
        shape = Shape(**sizes)
    except ValueError as error:
        last: Shape | None = memory.remembered(LAST_OWN, OWN)
        if last is not None:
            words.notice(f"{_sentence(str(error))} Below are the last sizes that go together.")
            return last
        n_heads, n_kv_heads = sizes["n_heads"], sizes["n_kv_heads"]
        fewer = range(1, min(n_kv_heads, n_heads) + 1)
        shared = max(x for x in fewer if n_heads % x == 0)
        words.notice(f"{_sentence(str(error))} Counted with {shared}.")
        return Shape(**{**sizes, "n_kv_heads": shared})
    memory.remember(LAST_OWN, OWN, shape)
    return shape


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
