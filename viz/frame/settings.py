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
from viz.kit import sampling as sampler
from viz.live.microscope import data as microscope
from viz.live.sketch import data as sketch

Kind = TypeVar("Kind", bound=Setting)

SETTINGS: dict[str, Setting] = {}

ON_ATTENTION = ("Attention",)
ON_POSITIONS = ("Positional encoding",)
ON_MASKS = ("Masks",)
ON_TOKENS = ("Tokens",)
ON_LENS = ("Logit lens",)
ON_HEADS = ("Heads",)
ON_NEXT = ("Next token",)
ON_BEAM = ("Beam search",)
ON_CACHE = ("KV cache",)
ON_TRANSLATION = ("Translation",)
ON_VISION = ("Vision",)
ON_ENCODER = ("Masked language model",)
ON_COST = ("Cost",)
ON_PATCHING = ("Patching",)
ON_EXPLANATION = ("Explanation",)
ON_CONTRIBUTIONS = ("Contributions",)
ON_ABLATION = ("Ablation",)
ON_EXPERIMENTS = (*ON_CONTRIBUTIONS, *ON_ABLATION)
ON_HOME = ("Home", *ON_NEXT, *ON_TRANSLATION, *ON_ENCODER)  # where a text is drawn token by token


def declared(setting: Kind) -> Kind:
    """Enter a setting in the table; two of one name would overwrite each other's value."""
    if setting.name in SETTINGS:
        raise ValueError(f"the setting {setting.name} is declared twice; rename one of them")
    SETTINGS[setting.name] = setting
    return setting


def named(name: str, label: str, names: dict[str, str], pages: tuple[str, ...]) -> Choice[str]:
    """A choice whose options are called otherwise on screen; the first is the default."""
    options = tuple(names)
    return declared(Choice(name, label, options[0], options, words=names.__getitem__, pages=pages))


# --- every page -------------------------------------------------------------------------------

PAGE = declared(Choice[str]("page", "Page", "", refusal="No page “{raw}”; showing {value}."))
TOUR = declared(Choice[str]("tour", "Lesson", "", refusal="Lesson “{raw}” does not exist."))
STEP = declared(Number("step", "Step", 1, 1, 99))
SENTENCE = declared(Text("sentence", "Sentence", ""))
MODEL = declared(Choice[str]("model", "Model", ""))
SOURCE = declared(Text("source", "English", "Two children play with a red ball on the beach."))
DIGIT = declared(Number("digit", "Test digit", 0, 0))
DRAWING = declared(Pixels("drawing", "Drawing", ""))
WAY = declared(Choice[str]("way", "Whose attention", "head", tuple(sketch.WAYS), pages=ON_VISION))
SHUFFLE = declared(Number("shuffle", "Another order", 1, 1, 50, 1, pages=ON_VISION))
DEVICE = declared(Choice[str]("device", "Device", "", words=str.upper))
HEAD_GROUP = declared(Choice[str]("attention", "Attention", ""))  # such as decoder.attn
LAYER = declared(Choice[int]("layer", "Layer", 0, words="L{}".format))
HEAD = declared(Choice[int]("head", "Head", 0, words="H{}".format))
LARGE = declared(  # where all heads are shown, and one of them may be large
    Flag("large", "Large head", False, pages=("Home", *ON_TRANSLATION, *ON_ENCODER))
)
# Which part of the inspector is open; nothing: as the page has it.
INSPECT = declared(
    Choice[str](
        "inspect",
        "Inspector",
        "",
        ("", "closed", "formula", "source", "check", "export"),
        refusal="Inspector part “{raw}” does not exist.",
    )
)
PRESENT = declared(Flag("present", "Present", False))
IMAGE_FORMAT = declared(
    Choice[str]("image_format", "Image format", "png", ("png", "svg"), words=str.upper)
)

# --- several pages ----------------------------------------------------------------------------

AFTER = declared(
    Choice[int](
        "after", "After token", -1, pages=("Masks", "Logit lens", "Next token", *ON_EXPERIMENTS)
    )
)
# Of layers that come in pages one that is in sight, else the one that plays.
LAYERS = declared(Number("layers", "Layers in sight", None, 0, none="playing", pages=ON_HOME))
SINK = declared(Flag("sink", "Lines to the attention sink", False, pages=ON_HOME))
TEMPERATURE = declared(
    Number("temperature", "Temperature", 0.8, *sampler.BOUNDS["temperature"], pages=ON_HOME)
)
TOP_K = declared(Number("top_k", "Top-k", None, 1, none="all", pages=ON_NEXT))
TOP_P = declared(
    Number(
        "top_p",
        "Top-p",
        0.95,
        *sampler.BOUNDS["top_p"],
        pages=ON_HOME,
    )
)
MIN_P = declared(Number("min_p", "Min-p", 0.0, *sampler.BOUNDS["min_p"], pages=ON_NEXT))
ORDER = declared(
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

CELL = declared(Pair("cell", "Cell", None, pages=("Home", *ON_ATTENTION, "Heads")))
TOKEN = declared(Index("token", "Token", None, pages=ON_ATTENTION))
VIEW = declared(Choice[str]("view", "View", "map", tuple(microscope.VIEWS), pages=ON_ATTENTION))
STAGE = declared(
    Choice[str]("stage", "Stage", "weights", tuple(microscope.STAGES), pages=ON_ATTENTION)
)
MASS = declared(
    Number("mass", "Cumulative attention shown", 0.8, *microscope.MASS, pages=ON_ATTENTION)
)
CHANGE = declared(
    Choice[str]("change", "Change", "scale", tuple(microscope.CHANGES), pages=ON_ATTENTION)
)
TAU = declared(Number("tau", "Attention temperature", 2.0, *microscope.TAU, pages=ON_ATTENTION))
AGAINST = declared(
    Choice[str]("against", "Compare with", "head", tuple(microscope.AGAINST), pages=ON_ATTENTION)
)
OTHER = declared(Pair("other", "Compare with head", None, pages=ON_ATTENTION))
SECOND = declared(Text("second", "Second sentence", "", pages=ON_ATTENTION))
HOW = declared(Choice[str]("how", "Aggregate", "mean", tuple(microscope.HOW), pages=ON_ATTENTION))
OVER = declared(
    Choice[str]("over", "Aggregate over heads", "layer", microscope.OVER, pages=ON_ATTENTION)
)
HIDE_FIRST = declared(
    Flag("hide_first", "Hide attention sink (first token)", False, pages=ON_ATTENTION)
)
MERGE_WORDS = declared(Flag("words", "Merge subwords", False, pages=ON_ATTENTION))

# --- Tokens -----------------------------------------------------------------------------------

PRE_TOKEN = declared(Choice[int]("pre_token", "Pre-token", -1, pages=ON_TOKENS))

# --- Positional encoding ------------------------------------------------------------------------

SCHEME = declared(Choice[str]("scheme", "Scheme", "", pages=ON_POSITIONS))
PICTURE = named("picture", "Picture", {"map": "Heat map", "surface": "Surface"}, ON_POSITIONS)
DIMENSIONS = declared(Numbers("dimensions", "Dimensions", (), most=6, pages=ON_POSITIONS))
FIRST_POSITION = declared(Number("place_first", "First position", 0, step=1, pages=ON_POSITIONS))
SECOND_POSITION = declared(Number("place_second", "Second position", 0, step=1, pages=ON_POSITIONS))
QUERY_TOKEN = declared(Choice[int]("query", "Query token", -1, pages=ON_POSITIONS))
KEY_TOKEN = declared(Choice[int]("key", "Key token", -1, pages=ON_POSITIONS))
SLOPE_HEADS = declared(Number("n_heads", "Heads", 1, 1, 64, pages=ON_POSITIONS))
SWAP = declared(Choice[int]("swap", "Swap token", -1, pages=ON_POSITIONS))
SWAP_WITH = declared(Choice[int]("swap_with", "Swap it with", -1, pages=ON_POSITIONS))

# --- Masks ------------------------------------------------------------------------------------

MASK_VIEW = declared(Choice[str]("masks", "View", "kinds", pages=ON_MASKS))
MASK_KIND = declared(Choice[str]("mask", "Mask", "causal", pages=ON_MASKS))
WINDOW = declared(Number("window", "Window", 1, 1, 512, pages=ON_MASKS))
PREFIX = declared(Number("prefix", "Prefix", 0, 0, 512, pages=ON_MASKS))
GLOBAL = declared(Number("global", "Global", 0, 0, 512, pages=ON_MASKS))
PAD_TOKENS = declared(Number("pad_tokens", "Pad tokens", 0, 0, 512, pages=ON_MASKS))
DIRECTION = named("sides", "Direction", {"causal": "and causal", "both": "both sides"}, ON_MASKS)
EDITS = declared(Cells("edits", "Edited cells", (), pages=ON_MASKS))
EDITS_OF = declared(Text("edits_of", "Edited mask", "", pages=ON_MASKS))
PADDED_SENTENCE = declared(Text("padded", "Second sentence", "The dog ran.", pages=ON_MASKS))
PADDING_SIDE = named("side", "Side", {"left": "Left padding", "right": "Right padding"}, ON_MASKS)

# --- Lens -------------------------------------------------------------------------------------

LENS_COLOUR = declared(
    Choice[str]("lens_color", "Colour", "probability", ("probability", "entropy"), pages=ON_LENS)
)
LENS_START = declared(Choice[int]("lens_start", "Window", -1, pages=ON_LENS))

# --- Heads ------------------------------------------------------------------------------------

MEASURED_ON = declared(
    Choice[str](
        "measured_on",
        "Measured on",
        "survey",
        ("survey", "sentence", "text"),
        words={
            "survey": "held-out text",
            "sentence": "this input",
            "text": "a text of yours",
        }.__getitem__,
        pages=ON_HEADS,
        follows=True,
    )
)
ACROSS = declared(Choice[str]("across", "Across", "", pages=ON_HEADS))
UP = declared(Choice[str]("up", "Up", "", pages=ON_HEADS))
COLOUR_BY = declared(Choice[str]("colour_by", "Colour", "", pages=ON_HEADS))
SORTED_BY = declared(Choice[str]("sorted_by", "Sorted by", "", pages=ON_HEADS))
HEADS_THAT = declared(Choice[str]("heads_that", "Show", "", pages=ON_HEADS))

# --- Next token -------------------------------------------------------------------------------

DECODING = named("mode", "Decoding", {"sampling": "sampling", "greedy": "greedy"}, ON_NEXT)
SEED = declared(
    Number("seed", "Seed", 0, 0, 2**31 - 1, pages=(*ON_NEXT, *ON_TRANSLATION, *ON_ENCODER))
)
NEW_TOKENS = declared(Number("new_tokens", "New tokens", 40, 1, 1000, pages=ON_NEXT))
# How far a text was written, and what was changed on the way: a link, or a reload, writes it again.
WRITTEN = declared(Number("written", "Tokens written", 0, 0, 1000, pages=ON_NEXT))
CHANGES = declared(Changes("changes", "Changes on the way", (), pages=ON_NEXT, most=120))
AT_LIMIT = named("full", "At the context limit", {"stop": "stop", "slide": "slide window"}, ON_NEXT)

# --- Beam search ------------------------------------------------------------------------------

BEAM_WIDTH = declared(Number("beam_width", "Beam width", 3, 1, 12, pages=ON_BEAM))
BEAM_TOKENS = declared(Number("beam_tokens", "New tokens", 8, 1, 24, pages=ON_BEAM))
LENGTH_PENALTY = declared(
    Number("alpha", "Length normalisation α", 0.0, 0.0, 2.0, 0.1, pages=ON_BEAM)
)

# --- Cache ------------------------------------------------------------------------------------

CACHE_PART = declared(Choice[str]("part", "Show", "keys", ("keys", "values"), pages=ON_CACHE))
CACHE_HEADS = declared(
    Choice[str]("heads", "Heads", "all heads", ("all heads", "this head"), pages=ON_CACHE)
)
PREFILL = declared(Number("prefill", "Prefill", 1, 1, pages=ON_CACHE, follows=True))
CACHED_TOKENS = declared(Choice[int]("held", "Tokens cached", 0, pages=ON_CACHE, follows=True))
CONTEXT = declared(Number("context", "Context", 2048, 1, 10_000_000, pages=ON_CACHE))

# --- Cost ---------------------------------------------------------------------------------------

SHAPE = declared(Choice[str]("shape", "Model", "", pages=ON_COST))
COST_TOKENS = declared(Number("cost_tokens", "Tokens", 1024, 1, 10_000_000, pages=ON_COST))
OWN_LAYERS = declared(Number("own_layers", "Layers", 12, 1, 1000, pages=ON_COST))
OWN_WIDTH = declared(Number("own_width", "d_model", 768, 1, 100_000, pages=ON_COST))
OWN_HEADS = declared(Number("own_heads", "Heads", 12, 1, 1000, pages=ON_COST))
OWN_KV_HEADS = declared(Number("own_kv_heads", "KV heads", 12, 1, 1000, pages=ON_COST))
OWN_D_HEAD = declared(Number("own_d_head", "d_head", 64, 1, 10_000, pages=ON_COST))
OWN_FEEDFORWARD = declared(Number("own_ff", "d_ff", 3072, 1, 1_000_000, pages=ON_COST))
OWN_VOCABULARY = declared(Number("own_vocab", "Vocabulary", 50257, 1, 10_000_000, pages=ON_COST))
OWN_POSITIONS = declared(
    Number("own_positions", "Learned positions", 1024, 0, 10_000_000, pages=ON_COST)
)
OWN_KIND = named(
    "own_kind",
    "Blocks",
    {"gpt": "LayerNorm, biases, ungated", "llama": "RMSNorm, no biases, SwiGLU"},
    ON_COST,
)
OWN_TIED = named("own_tied", "Unembedding", {"tied": "tied", "own": "of its own"}, ON_COST)
KERNEL = declared(Number("kernel", "Kernel k", 3, 2, 1000, pages=ON_COST))
LEFT_OUT = declared(Choice[int]("left_out", "Length to predict", 0, pages=ON_COST))
COST_WINDOW = declared(Number("cost_window", "Window r", 128, 1, 1_000_000, pages=ON_COST))

# --- Patching -----------------------------------------------------------------------------------

CORRUPT = declared(Text("corrupt", "Second sentence", "", pages=ON_PATCHING, follows=True))
OTHER_DIGIT = declared(Number("other_digit", "Second digit", 1, 0, pages=ON_PATCHING))
PATCH_STACK = declared(
    Choice[str]("patch_stack", "Values of", "encoder", ("encoder", "decoder"), pages=ON_PATCHING)
)
METRIC = named(
    "metric",
    "Metric",
    {"difference": "logit difference", "logit": "logit", "loss": "loss, nats"},
    ON_PATCHING,
)
EXPECTED = declared(Choice[int]("expected", "Answer", -1, pages=ON_PATCHING, follows=True))
VERSUS = declared(Choice[int]("versus", "Against", -1, pages=ON_PATCHING, follows=True))
RESTORE = named(
    "restore",
    "Put",
    {"first": "first into second", "second": "second into first"},
    ON_PATCHING,
)
PATCH = declared(Choice[str]("patch", "Cell", "", pages=ON_PATCHING, follows=True))

# --- Explanation --------------------------------------------------------------------------------

ASKED = named(
    "asked",
    "Metric",
    {"logit": "logit", "difference": "logit difference", "loss": "loss, nats"},
    ON_EXPLANATION,
)
EXPLAINED = declared(Choice[int]("explained", "Answer", -1, pages=ON_EXPLANATION, follows=True))
MEASURE = named(
    "measure",
    "Measure",
    {
        "weights": "weight",
        "norms": "value-weighted norm",
        "gradients": "gradient × attention",
    },
    ON_EXPLANATION,
)
ARROW = declared(Choice[str]("arrow", "Arrow", "", pages=ON_EXPLANATION, follows=True))
PREDICTED_AT = declared(Choice[int]("predicted_at", "Blank", -1, pages=ON_EXPLANATION))
ARROWS_OF = declared(Choice[str]("arrows_of", "Arrows of", "", pages=ON_EXPLANATION, follows=True))
ARROW_QUERY = declared(Choice[int]("arrow_query", "Arrows from", -1, pages=ON_EXPLANATION))
# --- Contributions ------------------------------------------------------------------------------

ANSWER = declared(Choice[int]("answer", "Answer", -1, pages=ON_CONTRIBUTIONS))
AGAINST_ANSWER = declared(Choice[int]("instead", "Against", -1, pages=ON_CONTRIBUTIONS))
NEURON = declared(Pair("neuron", "Neuron", None, pages=ON_CONTRIBUTIONS))

# --- Ablation -----------------------------------------------------------------------------------

OFF = declared(Switched("off", "Off", (), pages=ON_ABLATION))
STANDS_IN = declared(Choice[str]("stands_in", "Set to", "zero", ("zero",), pages=ON_ABLATION))
NEURONS_OF = declared(Choice[str]("neurons_of", "Any neuron of", "", pages=ON_ABLATION))
ANY_NEURON = declared(Number("any_neuron", "Number", 0, 0, pages=ON_ABLATION))
OTHER_SENTENCE = declared(Text("other_sentence", "Other sentence", "", pages=ON_ABLATION))

# --- Masked language model: all are chosen in the instrument ------------------------------------

# The blanks stay on other pages: the same sentence with the same tokens hidden is to be seen there.
BLANKS = declared(
    Places("blanks", "Blank", (), pages=("Home", "Attention", *ON_ENCODER), follows=True)
)
BLANK = declared(Choice[int]("blank", "Shown blank", -1, pages=("Home", *ON_ENCODER)))
CAUSAL = declared(Flag("causal", "Causal mask", False, pages=ON_ENCODER))

# --- Translation ------------------------------------------------------------------------------

WAYS_TO_WRITE = {"greedy": "greedy", "sampling": "sampling", "beam": "beam search"}
DECODE = named("decode", "Decoding", WAYS_TO_WRITE, ON_TRANSLATION)
BEAMS = declared(Number("beams", "Beam width", 5, 2, 12, pages=ON_TRANSLATION))
# Ids that a person put at the beginning of a target, the last of them in place of another.
FORCED = declared(Ids("forced", "Chosen tokens", (), most=512, pages=ON_TRANSLATION))
HEADS_ALIGNED = {"head": "this head", "layer": "mean of its layer", "all": "mean of all layers"}
SHOWN_HEADS = named("shown_heads", "Heads", HEADS_ALIGNED, ON_TRANSLATION)
ROWS_ALIGNED = {"output": "while it is predicted", "input": "with it as input"}
ALIGN_BY = named("align_by", "Row of a German word", ROWS_ALIGNED, ON_TRANSLATION)
TARGET = declared(Text("target", "German", "", pages=ON_TRANSLATION, follows=True))
DAMAGE_SEED = declared(Number("damage_seed", "Seed", 0, 0, 999, pages=ON_TRANSLATION))


# --- old links --------------------------------------------------------------------------------

OLD_NAMES = {"filler": "pad_tokens", "compare": "scheme"}
OLD_VALUES = {
    ("side", "front"): "left",
    ("side", "behind"): "right",
    ("scheme", "yes"): "compare",
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
    ("page", "Generate"): "Next token",
}


# Pages that had a model of their own, and what it was called in the address.
OLD_MODELS = {"Translation": "translator", "Vision": "vision", "Masked language model": "encoder"}
HEAD_IN_ONE = "at"  # such as decoder.cross_attn.3.0


def modern(address: Mapping[str, str]) -> dict[str, str]:
    """What an address says in today's names and values; today's win where it says both."""
    if address.get("page") == "Generate" and address.get("mode") == "beam":
        address = {**address, "page": "Beam search"}
        del address["mode"]
    renamed = {OLD_NAMES.get(name, name): value for name, value in address.items()}
    today = {name: value for name, value in address.items() if name not in OLD_NAMES}
    found = {name: OLD_VALUES.get((name, x), x) for name, x in (renamed | today).items()}
    models = {name: found.pop(name, "") for name in OLD_MODELS.values()}
    if model := models.get(OLD_MODELS.get(found.get("page", ""), "")):
        found["model"] = model
    if at := found.pop(HEAD_IN_ONE, ""):
        names = (HEAD_GROUP.name, LAYER.name, HEAD.name)
        found = dict(zip(names, at.rsplit(".", 2), strict=False)) | {LARGE.name: "yes"} | found
    return found
