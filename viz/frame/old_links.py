"""What addresses of earlier versions said, in today's names and values."""

from collections.abc import Mapping

from viz.frame.kinds import Group
from viz.frame.settings import SETTINGS

OLD_NAMES = {
    **dict.fromkeys(("after", "query", "swap", "near_token", "split_token"), "token"),
    **dict.fromkeys(("block_token", "tiled_query", "predicted_at"), "token"),
    **dict.fromkeys(("key", "swap_with", "arrow_query"), "other_token"),
    **dict.fromkeys(("corrupt", "padded", "other_sentence"), "second"),
    **dict.fromkeys(("root_seed", "points", "additive_seed"), "seed"),
    **dict.fromkeys(("depth_seed", "damage_seed"), "seed"),
    **dict.fromkeys(("cost_window", "kept_window"), "window"),
    **dict.fromkeys(("expected", "explained"), "answer"),
    "versus": "instead",
    "asked": "metric",
    "kept_global": "global",
    "cost_tokens": "context",
    "decode": "mode",
    "beam_tokens": "new_tokens",
    "beams": "beam_width",
    "filler": "pad_tokens",
    "compare": "scheme",
    **dict.fromkeys(("masks", "kernels", "cheaper_view", "scaling"), "scene"),
}
OLD_VALUES = {
    ("side", "front"): "left",
    ("side", "behind"): "right",
    ("scheme", "yes"): "compare",
    ("scene", "angles"): "wavelengths",
    ("scene", "difference"): "pattern",
    ("mode", "sampled"): "sampling",
    ("top_k", "-1"): "all",
    ("top_k", "0"): "all",
    ("page", "Tours"): "Home",
    ("page", "Encoder"): "Masked language model",
    ("page", "Several heads"): "Multi-head attention",
    ("page", "The block"): "Transformer block",
    ("page", "Positions"): "Positional encoding",
    ("page", "Similarity"): "Embeddings and similarity",
    ("page", "Lens"): "Logit lens",
    ("page", "Cache"): "KV cache",
    ("page", "Predict"): "Next token",
    ("page", "Sampling"): "Next token",
    ("page", "Generate"): "Next token",
}


# What was on its page before the page had views: which of them it is in.
VIEW_OF = {
    "root_d": ("scene", "query"),
    "block_norm": ("scene", "norms"),
    "depth": ("scene", "layers"),
    "split_token": ("scene", "split"),
    "dimensions": ("scene", "curves"),
    "compare": ("scene", "patterns"),
    "house": ("scene", "houses"),
    "vectors": ("scene", "vectors"),
    **dict.fromkeys(("place_first", "place_second"), ("scene", "rotation")),
    **dict.fromkeys(("row_letters", "row_place", "row_head"), ("scene", "row")),
    **dict.fromkeys(("tiled_query", "tile_size", "tiles_done"), ("scene", "tiles")),
    "scaling_times": ("scene", "equal"),
    "scaling_counted": ("scene", "own"),
}
# Pages that had a model of their own, and what it was called in the address.
OLD_MODELS = {"Translation": "translator", "Vision": "vision", "Masked language model": "encoder"}
# Which step of a lesson has what each step of an earlier tour had.
OLD_TOURS = {
    "five-minutes": "01-tokens.1 06-heads.5 03-by-hand.3 06-heads.3 05-masks.1 09-sampling.1 "
    "09-sampling.3",
    "twenty-minutes": "01-tokens.1 06-heads.1 03-by-hand.3 05-masks.1 03-by-hand.4 05-masks.5 "
    "10-architectures.2 05-masks.2 07-positions.1 08-block.2 09-sampling.4 09-sampling.4",
    "engineers": "03-by-hand.3 03-by-hand.3 03-by-hand.4 06-heads.4 07-positions.5 09-sampling.4 "
    "09-sampling.4",
}
HEAD_IN_ONE = "at"  # such as decoder.cross_attn.3.0
# Their parts were settings of their own.
GROUPS = [setting for setting in SETTINGS.values() if isinstance(setting, Group)]


def said_twice(address: Mapping[str, str]) -> list[str]:
    """A line for each value that an address has by today's name and by an old one."""
    names = {part.name: group.name for group in GROUPS for part in group.parts} | OLD_NAMES
    return [
        f"{SETTINGS[new].label}: the address has both {new} and {old}; using {old}."
        for old, new in names.items()
        if old in address and new in address
    ]


def modern(address: Mapping[str, str]) -> dict[str, str]:
    """What an address says in today's names and values.

    An old name wins: all but `after`, the first, were one page's own, whose address has it.
    """
    if address.get("page") == "Generate" and address.get("mode") == "beam":
        address = {**address, "page": "Beam search"}
        del address["mode"]
    if "instead" in address and address.get("page") == "Contributions":
        address = {"metric": "difference", **address}  # it was asked for with the other token
    today = {name: of for name, of in address.items() if name not in OLD_NAMES}
    today |= {new: address[name] for name, new in OLD_NAMES.items() if name in address}
    for group in GROUPS:
        if any(part.name in today for part in group.parts):
            parts = [today.pop(part.name, part.text(part.default)) for part in group.parts]
            today[group.name] = ",".join(parts)
    today = dict(VIEW_OF[name] for name in VIEW_OF if name in address or name in today) | today
    values = {name: OLD_VALUES.get((name, value), value) for name, value in today.items()}
    models = {name: values.pop(name, "") for name in OLD_MODELS.values()}
    if model := models.get(OLD_MODELS.get(values.get("page", ""), "")):
        values["model"] = model
    if steps := OLD_TOURS.get(values.get("tour", ""), "").split():
        number = values.get("step", "1")[:4]  # Python reads no number of thousands of digits
        at_step = min(int(number), len(steps)) if number.isdecimal() else 1
        values["tour"], values["step"] = steps[max(at_step, 1) - 1].split(".")
    at = values.pop(HEAD_IN_ONE, "").rsplit(".", 2)
    if len(at) == 3:
        names = ("attention", "layer", "head")
        values = dict(zip(names, at, strict=True)) | {"large": "yes"} | values
    return values
