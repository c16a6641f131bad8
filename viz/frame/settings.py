"""Every setting a person can change, declared once: name in the URL, label, default, range, pages.

Options, bounds and defaults that only the model or the sentence knows are left empty here and
given where the setting is used, with `Setting.given`. Names are the address's, so they stay; what
an old link may still say is in `OLD_NAMES` and `OLD_VALUES`.
"""

from collections.abc import Mapping
from itertools import permutations
from typing import TypeVar

from model.decoding.filters import DEFAULT_ORDER
from viz.frame.course import Changes
from viz.frame.kinds import (
    Cells,
    Choice,
    Flag,
    Ids,
    Index,
    Number,
    Numbers,
    Pair,
    Pixels,
    Places,
    Setting,
    Text,
)
from viz.frame.switched import Switched
from viz.live.by_hand import data as by_hand
from viz.live.core import sampling as sampler
from viz.live.microscope import data as microscope
from viz.live.sketch import data as sketch
from viz.live.translation import data as translation

Kind = TypeVar("Kind", bound=Setting)

SETTINGS: dict[str, Setting] = {}

ON_ATTENTION = ("Attention",)
ON_POSITIONS = ("Positions",)
ON_MASKS = ("Masks",)
ON_TOKENS = ("Tokens",)
ON_LENS = ("Logit lens",)
ON_HEADS = ("Heads",)
ON_NEXT = ("Next token",)
ON_BEAM = ("Beam search",)
ON_CACHE = ("KV cache",)
ON_TRANSLATION = ("Translation",)
ON_VISION = ("Vision",)
ON_ENCODER = ("Encoder",)
ON_COST = ("Cost",)
ON_PATCHING = ("Patching",)
ON_EXPLANATION = ("Explanation",)
ON_CONTRIBUTIONS = ("Contributions",)
ON_BY_HAND = ("Attention by hand",)
ON_ROOT = ("Why √d?",)
ON_ABLATION = ("Ablation",)
ON_EXPERIMENTS = (*ON_CONTRIBUTIONS, *ON_ABLATION)
ON_HOME = ("Home", *ON_NEXT, *ON_TRANSLATION, *ON_ENCODER)  # where a text is drawn token by token


def _declared(setting: Kind) -> Kind:
    """Enter a setting in the table; two of one name would overwrite each other's value."""
    if setting.name in SETTINGS:
        raise ValueError(f"the setting {setting.name} is declared twice; rename one of them")
    SETTINGS[setting.name] = setting
    return setting


def _named(name: str, label: str, names: dict[str, str], pages: tuple[str, ...]) -> Choice[str]:
    """A choice whose options are called otherwise on screen; the first is the default."""
    options = tuple(names)
    return _declared(Choice(name, label, options[0], options, words=names.__getitem__, pages=pages))


# --- every page -------------------------------------------------------------------------------

PAGE = _declared(Choice[str]("page", "Page", "", refusal="No page “{raw}”; showing {value}."))
TOUR = _declared(Choice[str]("tour", "Tour", "", refusal="Tour “{raw}” does not exist."))
STEP = _declared(Number("step", "Step", 1, 1, 99))
SENTENCE = _declared(Text("sentence", "Sentence", ""))
MODEL = _declared(Choice[str]("model", "Model", ""))
# A view for one architecture has a model of its own, and leaves that of the other views alone.
TRANSLATOR = _declared(Choice[str]("translator", "Model", "", pages=ON_TRANSLATION))
VISION = _declared(Choice[str]("vision", "Model", "", pages=ON_VISION))
ENCODER = _declared(Choice[str]("encoder", "Model", "", pages=ON_ENCODER))
MODELS = {"": MODEL, "encoder": ENCODER, "encoder_decoder": TRANSLATOR, "vision": VISION}
AT = _declared(  # such as decoder.cross_attn.3.0
    Choice[str]("at", "Head", "", pages=(*ON_ENCODER, *ON_TRANSLATION, *ON_VISION))
)
SOURCE = _declared(Text("source", "English", "Two children play with a red ball on the beach."))
DIGIT = _declared(Number("digit", "Test digit", 0, 0))
DRAWING = _declared(Pixels("drawing", "Drawing", ""))
WAY = _declared(Choice[str]("way", "Whose attention", "head", tuple(sketch.WAYS), pages=ON_VISION))
SHUFFLE = _declared(Number("shuffle", "Another order", 1, 1, 50, 1, pages=ON_VISION))
DEVICE = _declared(Choice[str]("device", "Device", "", words=str.upper))
HEAD_GROUP = _declared(Choice[str]("attention", "Attention", ""))  # such as decoder.attn
LAYER = _declared(Choice[int]("layer", "Layer", 0, words="L{}".format))
HEAD = _declared(Choice[int]("head", "Head", 0, words="H{}".format))
# Which part of the inspector is open; nothing: as the page has it.
INSPECT = _declared(
    Choice[str](
        "inspect",
        "Inspector",
        "",
        ("", "closed", "formula", "source", "check", "export"),
        refusal="Inspector part “{raw}” does not exist.",
    )
)
PRESENT = _declared(Flag("present", "Present", False))
IMAGE_FORMAT = _declared(
    Choice[str]("image_format", "Image format", "png", ("png", "svg"), words=str.upper)
)

# --- several pages ----------------------------------------------------------------------------

AFTER = _declared(
    Choice[int](
        "after", "After token", -1, pages=("Masks", "Logit lens", "Next token", *ON_EXPERIMENTS)
    )
)
TEMPERATURE = _declared(
    Number("temperature", "Temperature", 0.8, *sampler.BOUNDS["temperature"], pages=ON_HOME)
)
TOP_K = _declared(Number("top_k", "Top-k", None, 1, none="all", pages=ON_NEXT))
TOP_P = _declared(
    Number(
        "top_p",
        "Top-p",
        0.95,
        *sampler.BOUNDS["top_p"],
        pages=(*ON_NEXT, *ON_TRANSLATION, *ON_ENCODER),
    )
)
MIN_P = _declared(Number("min_p", "Min-p", 0.0, *sampler.BOUNDS["min_p"], pages=ON_NEXT))
ORDER = _declared(
    Choice(
        "order",
        "Order",
        tuple(DEFAULT_ORDER),
        tuple(permutations(DEFAULT_ORDER)),
        words=", ".join,
        pages=ON_NEXT,
    )
)

# --- Attention: all but the first are chosen inside the microscope ------------------------------

CELL = _declared(Pair("cell", "Cell", None, pages=ON_ATTENTION))
TOKEN = _declared(Index("token", "Token", None, pages=ON_ATTENTION))
VIEW = _declared(Choice[str]("view", "View", "map", tuple(microscope.VIEWS), pages=ON_ATTENTION))
STAGE = _declared(
    Choice[str]("stage", "Stage", "weights", tuple(microscope.STAGES), pages=ON_ATTENTION)
)
MASS = _declared(
    Number("mass", "Cumulative attention shown", 0.8, *microscope.MASS, pages=ON_ATTENTION)
)
CHANGE = _declared(
    Choice[str]("change", "Change", "scale", tuple(microscope.CHANGES), pages=ON_ATTENTION)
)
TAU = _declared(Number("tau", "Attention temperature", 2.0, *microscope.TAU, pages=ON_ATTENTION))
AGAINST = _declared(
    Choice[str]("against", "Compare with", "head", tuple(microscope.AGAINST), pages=ON_ATTENTION)
)
OTHER = _declared(Pair("other", "Compare with head", None, pages=ON_ATTENTION))
SECOND = _declared(Text("second", "Second sentence", "", pages=ON_ATTENTION))
HOW = _declared(Choice[str]("how", "Aggregate", "mean", tuple(microscope.HOW), pages=ON_ATTENTION))
OVER = _declared(
    Choice[str]("over", "Aggregate over heads", "layer", microscope.OVER, pages=ON_ATTENTION)
)
HIDE_FIRST = _declared(
    Flag("hide_first", "Hide attention sink (first token)", False, pages=ON_ATTENTION)
)
MERGE_WORDS = _declared(Flag("words", "Merge subwords", False, pages=ON_ATTENTION))

# --- Tokens -----------------------------------------------------------------------------------

PRE_TOKEN = _declared(Choice[int]("pre_token", "Pre-token", -1, pages=ON_TOKENS))

# --- Positions --------------------------------------------------------------------------------

SCHEME = _declared(Choice[str]("scheme", "Scheme", "", pages=ON_POSITIONS))
PICTURE = _named("picture", "Picture", {"map": "Heat map", "surface": "Surface"}, ON_POSITIONS)
DIMENSIONS = _declared(Numbers("dimensions", "Dimensions", (), most=6, pages=ON_POSITIONS))
FIRST_POSITION = _declared(Number("place_first", "First position", 0, step=1, pages=ON_POSITIONS))
SECOND_POSITION = _declared(
    Number("place_second", "Second position", 0, step=1, pages=ON_POSITIONS)
)
QUERY_TOKEN = _declared(Choice[int]("query", "Query token", -1, pages=ON_POSITIONS))
KEY_TOKEN = _declared(Choice[int]("key", "Key token", -1, pages=ON_POSITIONS))
SLOPE_HEADS = _declared(Number("n_heads", "Heads", 1, 1, 64, pages=ON_POSITIONS))
SWAP = _declared(Choice[int]("swap", "Swap token", -1, pages=ON_POSITIONS))
SWAP_WITH = _declared(Choice[int]("swap_with", "Swap it with", -1, pages=ON_POSITIONS))

# --- Masks ------------------------------------------------------------------------------------

MASK_VIEW = _declared(Choice[str]("masks", "View", "kinds", pages=ON_MASKS))
MASK_KIND = _declared(Choice[str]("mask", "Mask", "causal", pages=ON_MASKS))
WINDOW = _declared(Number("window", "Window", 1, 1, 512, pages=ON_MASKS))
PREFIX = _declared(Number("prefix", "Prefix", 0, 0, 512, pages=ON_MASKS))
GLOBAL = _declared(Number("global", "Global", 0, 0, 512, pages=ON_MASKS))
PAD_TOKENS = _declared(Number("pad_tokens", "Pad tokens", 0, 0, 512, pages=ON_MASKS))
DIRECTION = _named("sides", "Direction", {"causal": "and causal", "both": "both sides"}, ON_MASKS)
EDITS = _declared(Cells("edits", "Edited cells", (), pages=ON_MASKS))
EDITS_OF = _declared(Text("edits_of", "Edited mask", "", pages=ON_MASKS))
PADDED_SENTENCE = _declared(Text("padded", "Second sentence", "The dog ran.", pages=ON_MASKS))
PADDING_SIDE = _named("side", "Side", {"left": "Left padding", "right": "Right padding"}, ON_MASKS)

# --- Lens -------------------------------------------------------------------------------------

LENS_COLOUR = _declared(
    Choice[str]("lens_color", "Colour", "probability", ("probability", "entropy"), pages=ON_LENS)
)
LENS_START = _declared(Choice[int]("lens_start", "Window", -1, pages=ON_LENS))

# --- Heads ------------------------------------------------------------------------------------

MEASURED_ON = _named(
    "measured_on", "Measured on", {"survey": "held-out text", "sentence": "this input"}, ON_HEADS
)
ACROSS = _declared(Choice[str]("across", "Across", "", pages=ON_HEADS))
UP = _declared(Choice[str]("up", "Up", "", pages=ON_HEADS))
COLOUR_BY = _declared(Choice[str]("colour_by", "Colour", "", pages=ON_HEADS))

# --- Next token -------------------------------------------------------------------------------

DECODING = _named("mode", "Decoding", {"sampling": "sampling", "greedy": "greedy"}, ON_NEXT)
SEED = _declared(Number("seed", "Seed", 0, 0, 2**31 - 1, pages=ON_HOME))
NEW_TOKENS = _declared(Number("new_tokens", "New tokens", 40, 1, 1000, pages=ON_NEXT))
# How far a text was written, and what was changed on the way: a link, or a reload, writes it again.
WRITTEN = _declared(Number("written", "Tokens written", 0, 0, 1000, pages=ON_NEXT))
CHANGES = _declared(Changes("changes", "Changes on the way", (), pages=ON_NEXT, most=120))
AT_LIMIT = _named(
    "full", "At the context limit", {"stop": "stop", "slide": "slide window"}, ON_NEXT
)

# --- Beam search ------------------------------------------------------------------------------

BEAM_WIDTH = _declared(Number("beam_width", "Beam width", 3, 1, 12, pages=ON_BEAM))
BEAM_TOKENS = _declared(Number("beam_tokens", "New tokens", 8, 1, 24, pages=ON_BEAM))
LENGTH_PENALTY = _declared(
    Number("alpha", "Length normalisation α", 0.0, 0.0, 2.0, 0.1, pages=ON_BEAM)
)

# --- Cache ------------------------------------------------------------------------------------

CACHE_PART = _declared(Choice[str]("part", "Show", "keys", ("keys", "values"), pages=ON_CACHE))
CACHE_HEADS = _declared(
    Choice[str]("heads", "Heads", "all heads", ("all heads", "this head"), pages=ON_CACHE)
)
PREFILL = _declared(Number("prefill", "Prefill", 1, 1, pages=ON_CACHE, follows=True))
CACHED_TOKENS = _declared(Choice[int]("held", "Tokens cached", 0, pages=ON_CACHE, follows=True))
CONTEXT = _declared(Number("context", "Context", 2048, 1, 10_000_000, pages=ON_CACHE))

# --- Cost ---------------------------------------------------------------------------------------

SHAPE = _declared(Choice[str]("shape", "Model", "", pages=ON_COST))
COST_TOKENS = _declared(Number("cost_tokens", "Tokens", 1024, 1, 10_000_000, pages=ON_COST))
OWN_LAYERS = _declared(Number("own_layers", "Layers", 12, 1, 1000, pages=ON_COST))
OWN_WIDTH = _declared(Number("own_width", "d_model", 768, 1, 100_000, pages=ON_COST))
OWN_HEADS = _declared(Number("own_heads", "Heads", 12, 1, 1000, pages=ON_COST))
OWN_KV_HEADS = _declared(Number("own_kv_heads", "KV heads", 12, 1, 1000, pages=ON_COST))
OWN_D_HEAD = _declared(Number("own_d_head", "d_head", 64, 1, 10_000, pages=ON_COST))
OWN_FEEDFORWARD = _declared(Number("own_ff", "d_ff", 3072, 1, 1_000_000, pages=ON_COST))
OWN_VOCABULARY = _declared(Number("own_vocab", "Vocabulary", 50257, 1, 10_000_000, pages=ON_COST))
OWN_POSITIONS = _declared(
    Number("own_positions", "Learned positions", 1024, 0, 10_000_000, pages=ON_COST)
)
OWN_KIND = _named(
    "own_kind",
    "Blocks",
    {"gpt": "LayerNorm, biases, ungated", "llama": "RMSNorm, no biases, SwiGLU"},
    ON_COST,
)
OWN_TIED = _named("own_tied", "Unembedding", {"tied": "tied", "own": "of its own"}, ON_COST)
KERNEL = _declared(Number("kernel", "Kernel k", 3, 2, 1000, pages=ON_COST))
COST_WINDOW = _declared(Number("cost_window", "Window r", 128, 1, 1_000_000, pages=ON_COST))

# --- Attention by hand: all are chosen in the instrument ----------------------------------------

HAND_CELLS = _declared(
    Text("hand_cells", "Q, K, V and W_O", "1,0;0,1|1,0;0,1|1,0;0,1|", pages=ON_BY_HAND)
)
HAND_HEADS = _declared(Choice[int]("hand_heads", "Heads", 1, (1, 2), pages=ON_BY_HAND))
HAND_MASKING = _named("hand_masking", "Masking", by_hand.MASKING, ON_BY_HAND)
HAND_VALID = _declared(Number("hand_valid", "Valid keys", 2, 0, 6, pages=ON_BY_HAND))
HAND_SCALED = _declared(Flag("hand_scaled", "Divided by √d", True, pages=ON_BY_HAND))

# --- Why √d? ------------------------------------------------------------------------------------

ROOT_DIMENSION = _declared(
    Choice[int]("root_d", "d", 64, tuple(2**power for power in range(13)), pages=ON_ROOT)
)
ROOT_SEED = _declared(Number("root_seed", "Draw", 0, 0, 2**31 - 1, pages=ON_ROOT))

# --- Patching -----------------------------------------------------------------------------------

CORRUPT = _declared(Text("corrupt", "Second sentence", "", pages=ON_PATCHING, follows=True))
METRIC = _named(
    "metric",
    "Metric",
    {"difference": "logit difference", "logit": "logit", "loss": "loss, nats"},
    ON_PATCHING,
)
EXPECTED = _declared(Choice[int]("expected", "Answer", -1, pages=ON_PATCHING, follows=True))
VERSUS = _declared(Choice[int]("versus", "Against", -1, pages=ON_PATCHING, follows=True))
RESTORE = _named(
    "restore",
    "Put",
    {"first": "first into second", "second": "second into first"},
    ON_PATCHING,
)
PATCH = _declared(Choice[str]("patch", "Cell", "", pages=ON_PATCHING, follows=True))

# --- Explanation --------------------------------------------------------------------------------

ASKED = _named(
    "asked",
    "Metric",
    {"logit": "logit", "difference": "logit difference", "loss": "loss, nats"},
    ON_EXPLANATION,
)
EXPLAINED = _declared(Choice[int]("explained", "Answer", -1, pages=ON_EXPLANATION, follows=True))
MEASURE = _named(
    "measure",
    "Measure",
    {
        "weights": "weight",
        "norms": "value-weighted norm",
        "gradients": "gradient × attention",
    },
    ON_EXPLANATION,
)
ARROW = _declared(Choice[str]("arrow", "Arrow", "", pages=ON_EXPLANATION, follows=True))
# --- Contributions ------------------------------------------------------------------------------

ANSWER = _declared(Choice[int]("answer", "Answer", -1, pages=ON_CONTRIBUTIONS))
AGAINST_ANSWER = _declared(Choice[int]("instead", "Against", -1, pages=ON_CONTRIBUTIONS))
NEURON = _declared(Pair("neuron", "Neuron", None, pages=ON_CONTRIBUTIONS))

# --- Ablation -----------------------------------------------------------------------------------

OFF = _declared(Switched("off", "Off", (), pages=ON_ABLATION))
STANDS_IN = _declared(Choice[str]("stands_in", "Set to", "zero", ("zero",), pages=ON_ABLATION))
OTHER_SENTENCE = _declared(Text("other_sentence", "Other sentence", "", pages=ON_ABLATION))

# --- Encoder: all are chosen in the instrument --------------------------------------------------

# The blanks stay on other pages: the same sentence with the same tokens hidden is to be seen there.
BLANKS = _declared(Places("blanks", "Blank", (), pages=("Attention", *ON_ENCODER), follows=True))
BLANK = _declared(Choice[int]("blank", "Shown blank", -1, pages=ON_ENCODER))
CAUSAL = _declared(Flag("causal", "Causal mask", False, pages=ON_ENCODER))

# --- Translation: most are chosen in the instrument ---------------------------------------------

DECODE = _named("decode", "Decoding", translation.DECODING, ON_TRANSLATION)
BEAMS = _declared(Number("beams", "Beam width", 5, 2, 12, pages=ON_TRANSLATION))
# Ids that a person put at the beginning of a target, the last of them in place of another.
FORCED = _declared(Ids("forced", "Chosen tokens", (), most=512, pages=ON_TRANSLATION))
SHOWN_HEADS = _named("shown_heads", "Heads", translation.HEADS, ON_TRANSLATION)
ALIGN_BY = _named("align_by", "Row of a German word", translation.ROWS, ON_TRANSLATION)
TARGET_TOKEN = _declared(Index("target_token", "German token", None, pages=ON_TRANSLATION))
TARGET = _declared(Text("target", "German", "", pages=ON_TRANSLATION, follows=True))
DAMAGE_SEED = _declared(Number("damage_seed", "Seed", 0, 0, 999, pages=ON_TRANSLATION))


# --- old links --------------------------------------------------------------------------------

OLD_NAMES = {"filler": "pad_tokens", "compare": "scheme"}
OLD_VALUES = {
    ("side", "front"): "left",
    ("side", "behind"): "right",
    ("scheme", "yes"): "compare",
    ("mode", "sampled"): "sampling",
    ("top_k", "-1"): "all",
    ("page", "Lens"): "Logit lens",
    ("page", "Cache"): "KV cache",
    ("page", "Predict"): "Next token",
    ("page", "Generate"): "Next token",
}


def modern(address: Mapping[str, str]) -> dict[str, str]:
    """What an address says in today's names and values; today's win where it says both."""
    if address.get("page") == "Generate" and address.get("mode") == "beam":
        address = {**address, "page": "Beam search"}
        del address["mode"]
    renamed = {OLD_NAMES.get(name, name): value for name, value in address.items()}
    today = {name: value for name, value in address.items() if name not in OLD_NAMES}
    return {name: OLD_VALUES.get((name, value), value) for name, value in (renamed | today).items()}
