"""Every setting a person can change, declared once: name in the URL, label, default, range, page.

Options, bounds and defaults that only the model, the sentence or an instrument knows are left
empty here and given where the setting is used, with `Setting.given`. Names are the address's, so
they stay.
"""

from itertools import permutations

from model.decoding.filters import DEFAULT_ORDER
from viz.frame.course import Changes
from viz.frame.kinds import (
    Cells,
    Choice,
    Flag,
    Group,
    Ids,
    Number,
    Numbers,
    Pair,
    Pixels,
    Places,
    Setting,
    Text,
    Turns,
)
from viz.frame.switched import Switched
from viz.kit import sampling as sampler
from viz.kit.parts import attention, circuit


def named(
    name: str, label: str, names: dict[str, str], page: str = "", *, follows: bool = False
) -> Choice[str]:
    """A choice whose options are called otherwise on screen; the first is the default."""
    options, words = tuple(names), names.__getitem__
    return Choice(name, label, options[0], options, words=words, page=page, follows=follows)


def together(name: str, label: str, *parts: Setting, page: str) -> Group:
    """Settings that are one: the parts keep their names for their controls."""
    return Group(name, label, tuple(part.default for part in parts), parts, page=page)


# --- every page --------------------------------------------------------------------------------

PAGE = Choice[str]("page", "Page", "", refusal="No page “{raw}”; showing {value}.")
TOUR = Choice[str]("tour", "Lesson", "", refusal="Lesson “{raw}” does not exist.")
STEP = Number("step", "Step", 1, 1, 99)
SENTENCE = Text("sentence", "Sentence", "", follows=True)
WAYS_TO_READ = {"chat": "chat", "text": "text", "markup": "text with special tokens"}
READ = named("read", "Read as", WAYS_TO_READ, follows=True)
# Of a chat: what is said before the sentence, which the user says last, and an answer to it by ids.
SYSTEM = Text("system", "System", "")
BEFORE = Turns("before", "Turns before", ())
BEGUN = Ids("begun", "Answer so far", (), n=10_000_000, most=1_000_000)
MODEL = Choice[str]("model", "Model", "")
SOURCE = Text("source", "English", "Two children play with a red ball on the beach.")
DIGIT = Number("digit", "Test digit", 0, 0)
DRAWING = Pixels("drawing", "Drawing", "")
DEVICE = Choice[str]("device", "Device", "", words=str.upper)
HEAD_GROUP = Choice[str]("attention", "Attention", "")  # such as decoder.attn
LAYER = Choice[int]("layer", "Layer", 0, words="L{}".format)
HEAD = Choice[int]("head", "Head", 0, words="H{}".format)
LARGE = Flag("large", "Large head", False)  # where all heads are shown, and one may be large
# Which part of the inspector is open; nothing: as the page has it.
INSPECT = Choice[str](
    "inspect",
    "Inspector",
    "",
    ("", "closed", "formula", "source", "check", "export"),
    refusal="Inspector part “{raw}” does not exist.",
)
SMALL_WEIGHTS = Flag("small_weights", "Show small weights", True)  # by their square root
PRESENT = Flag("present", "Present", False)
IMAGE_FORMAT = Choice[str]("image_format", "Image format", "png", ("png", "svg"), words=str.upper)

# --- several pages: what is chosen on one stands on the next -----------------------------------

SCENE = Choice[str]("scene", "Figure", "")  # of a page that shows one at a time
TOKEN = Choice[int]("token", "Token", -1)  # of the sentence; −1: as the page has it
OTHER_TOKEN = Choice[int]("other_token", "Other token", -1)
CELL = Pair("cell", "Cell", None)
SECOND = Text("second", "Second sentence", "", follows=True)
# A place of the sentence and the token in it, by id; its own while another is not chosen yet.
SWAP = Pair("swap", "Exchanged word", None, limits=(10**9, 10**9))
METRICS = {"logit": "logit", "difference": "logit difference", "loss": "loss, nats"}
METRIC = named("metric", "Metric", METRICS, follows=True)
ANSWER = Choice[int]("answer", "Answer", -1)
INSTEAD = Choice[int]("instead", "Against", -1)
SEED = Number("seed", "Seed", 0, 0, 2**31 - 1)
WINDOW = Number("window", "Window", 1, 1, 1_000_000, follows=True)
GLOBAL = Number("global", "Global", 0, 0, 512, follows=True)
CONTEXT = Number("context", "Context", 2048, 1, 10_000_000, follows=True)
# Of layers that come in pages one that is in sight, else the one that plays.
LAYERS = Number("layers", "Layers in sight", None, 0, none="playing")
SINK = Flag("sink", "Lines to the attention sink", False)
TEMPERATURE = Number("temperature", "Temperature", 0.8, *sampler.BOUNDS["temperature"])
TOP_P = Number("top_p", "Top-p", 0.95, *sampler.BOUNDS["top_p"])
WAYS_TO_WRITE = {"sampling": "sampling", "greedy": "greedy", "beam": "beam search"}
DECODING = named("mode", "Decoding", WAYS_TO_WRITE, follows=True)
NEW_TOKENS = Number("new_tokens", "New tokens", 40, 1, 1000, follows=True)
BEAM_WIDTH = Number("beam_width", "Beam width", 3, 1, 12, follows=True)
# The blanks stay on other pages: the same sentence with the same tokens hidden is to be seen there.
BLANKS = Places("blanks", "Blank", (), follows=True)
BLANK = Choice[int]("blank", "Shown blank", -1)

# --- Next token --------------------------------------------------------------------------------

TOP_K = Number("top_k", "Top-k", None, 1, none="all", page="Next token")
MIN_P = Number("min_p", "Min-p", 0.0, *sampler.BOUNDS["min_p"], page="Next token")
ORDERS = tuple(permutations(DEFAULT_ORDER))
ORDER = Choice("order", "Order", ORDERS[0], ORDERS, words=", ".join, page="Next token")
# How far a text was written, and what was changed on the way: a link, or a reload, writes it again.
WRITTEN = Number("written", "Tokens written", 0, 0, 1000, page="Next token")
CHANGES = Changes("changes", "Changes on the way", (), page="Next token", most=120)
FULL = {"stop": "stop", "slide": "slide window"}
AT_LIMIT = named("full", "At the context limit", FULL, "Next token")

# --- Attention: all are chosen inside the part -------------------------------------------------

VIEW = Choice[str]("view", "View", attention.STATE["view"], page="Attention")
STAGE = Choice[str]("stage", "Stage", attention.STATE["stage"], page="Attention")
MASS = Number("mass", "Cumulative attention shown", attention.STATE["mass"], page="Attention")
CHANGE = Choice[str]("change", "Change", attention.STATE["change"], page="Attention")
TAU = Number("tau", "Attention temperature", attention.STATE["tau"], page="Attention")
FLIPPED = Cells("flipped", "Cells masked by hand", (), page="Attention")
AGAINST = Choice[str]("against", "Compare with", attention.STATE["against"], page="Attention")
OTHER = Pair("other", "Compare with head", attention.STATE["other"], page="Attention")
HOW = Choice[str]("how", "Aggregate", attention.STATE["how"], page="Attention")
OVER = Choice[str]("over", "Aggregate over heads", attention.STATE["over"], page="Attention")
HIDE_FIRST = Flag(
    "hide_first",
    "Hide attention sink (first token)",
    attention.STATE["hide_first"],
    page="Attention",
)
MERGE_WORDS = Flag("words", "Merge subwords", attention.STATE["words"], page="Attention")

WHY = Flag("why", "Why there?", False, page="Attention")
WHY_TAKEN = Text("why_taken", "Taken away", "", page="Attention")
WHY_OTHER = Number("why_other", "Compared with key", None, 0, none="mean", page="Attention")

# --- Tokens, Logit lens ------------------------------------------------------------------------

PRE_TOKEN = Choice[int]("pre_token", "Pre-token", -1, page="Tokens")
LENSES = {"logit": "logit lens", "fitted": "fitted lens"}
LENS = named("lens", "Lens", LENSES, "Logit lens")
LENS_COLOURS = {"probability": "probability", "entropy": "entropy"}
LENS_COLOUR = named("lens_color", "Colour", LENS_COLOURS, "Logit lens")
LENS_START = Choice[int]("lens_start", "Window", -1, page="Logit lens")

# --- Positional encoding -----------------------------------------------------------------------

SCHEME = Choice[str]("scheme", "Scheme", "", page="Positional encoding")
PICTURES = {"map": "Heat map", "surface": "Surface"}
PICTURE = named("picture", "Picture", PICTURES, "Positional encoding")
DIMENSIONS = Numbers("dimensions", "Dimensions", (), most=6, page="Positional encoding")
FIRST_POSITION = Number("place_first", "First position", 0, step=1, page="Positional encoding")
SECOND_POSITION = Number("place_second", "Second position", 0, step=1, page="Positional encoding")
SLOPE_HEADS = Number("n_heads", "Heads", 1, 1, 64, page="Positional encoding")

# --- Masks -------------------------------------------------------------------------------------

MASK_KIND = Choice[str]("mask", "Mask", "causal", page="Masks")
PREFIX = Number("prefix", "Prefix", 0, 0, 512, page="Masks")
PAD_TOKENS = Number("pad_tokens", "Pad tokens", 0, 0, 512, page="Masks")
DIRECTION = named("sides", "Direction", {"causal": "and causal", "both": "both sides"}, "Masks")
EDITS = Cells("edits", "Edited cells", (), page="Masks")
EDITS_OF = Text("edits_of", "Edited mask", "", page="Masks")
SIDES = {"left": "Left padding", "right": "Right padding"}
PADDING_SIDE = named("side", "Side", SIDES, "Masks")

# --- Heads -------------------------------------------------------------------------------------

TEXTS = {
    "survey": "held-out text",
    "sentence": "this input",
    "repeats": "random repeats",
    "text": "a text of yours",
}
MEASURED_ON = named("measured_on", "Measured on", TEXTS, "Heads", follows=True)
ACROSS = Choice[str]("across", "Across", "", page="Heads", follows=True)
UP = Choice[str]("up", "Up", "", page="Heads", follows=True)
COLOUR_BY = Choice[str]("colour_by", "Colour", "", page="Heads", follows=True)
SORTED_BY = Choice[str]("sorted_by", "Sorted by", "", page="Heads", follows=True)
HEADS_THAT = Choice[str]("heads_that", "Show", "", page="Heads")

# --- Beam search, KV cache ---------------------------------------------------------------------

LENGTH_PENALTY = Number("alpha", "Length normalisation α", 0.0, 0.0, 2.0, 0.1, page="Beam search")
CACHE_PART = named("part", "Show", {"keys": "keys", "values": "values"}, "KV cache")
WHICH_HEADS = {"all heads": "all heads", "this head": "this head"}
CACHE_HEADS = named("heads", "Heads", WHICH_HEADS, "KV cache")
PREFILL = Number("prefill", "Prefill", 1, 1, page="KV cache", follows=True)
CACHED_TOKENS = Choice[int]("held", "Tokens cached", 0, page="KV cache", follows=True)

# --- Cost --------------------------------------------------------------------------------------

SHAPE = Choice[str]("shape", "Model", "", page="Cost")
OWN = together(
    "own",
    "Sizes of your own",
    Number("own_layers", "Layers", 12, 1, 1000),
    Number("own_width", "d_model", 768, 1, 100_000),
    Number("own_ff", "d_ff", 3072, 1, 1_000_000),
    Number("own_heads", "Heads", 12, 1, 1000),
    Number("own_kv_heads", "KV heads", 12, 1, 1000),
    Number("own_d_head", "d_head", 64, 1, 10_000),
    Number("own_vocab", "Vocabulary", 50257, 1, 10_000_000),
    Number("own_positions", "Learned positions", 1024, 0, 10_000_000),
    named(
        "own_kind",
        "Blocks",
        {"gpt": "LayerNorm, biases, ungated", "llama": "RMSNorm, no biases, SwiGLU"},
    ),
    named("own_tied", "Unembedding", {"tied": "tied", "own": "of its own"}),
    page="Cost",
)
KERNEL = Number("kernel", "Kernel k", 3, 2, 1000, page="Cost")
LEFT_OUT = Choice[int]("left_out", "Length to predict", 0, page="Cost")

# --- experiments -------------------------------------------------------------------------------

OTHER_DIGIT = Number("other_digit", "Second digit", None, 0, none="none", page="Patching")
STACKS = {"encoder": "encoder", "decoder": "decoder"}
PATCH_STACK = named("patch_stack", "Values of", STACKS, "Patching")
PUTS = {"first": "first into second", "second": "second into first"}
RESTORE = named("restore", "Put", PUTS, "Patching")
PATCH = Choice[str]("patch", "Cell", "", page="Patching", follows=True)
CIRCUIT_EDGES = Number(
    "circuit_edges", "Strongest edges", circuit.STATE["edges"], 1, 20_000, page="Circuit"
)
CIRCUIT_EDGE = Text("circuit_edge", "Chosen edge", "", page="Circuit")
WHICH_EDGES = {"strongest": "strongest", "pruned": "after removal"}
ELSEWHERE_1 = Text("elsewhere_1", "Sentence 1", "", page="Circuit", follows=True)
ELSEWHERE_2 = Text("elsewhere_2", "Sentence 2", "", page="Circuit", follows=True)
ELSEWHERE_3 = Text("elsewhere_3", "Sentence 3", "", page="Circuit", follows=True)
CIRCUIT_WHICH = named("circuit_which", "Edges", WHICH_EDGES, "Circuit")
MEASURES = {
    "weights": "weight",
    "norms": "value-weighted norm",
    "gradients": "gradient × attention",
}
MEASURE = named("measure", "Measure", MEASURES, "Explanation")
ARROW = Choice[str]("arrow", "Edge", "", page="Explanation", follows=True)
ARROWS_OF = Choice[str]("arrows_of", "Edges of", "", page="Explanation", follows=True)
NEURON = Pair("neuron", "Neuron", None, page="Contributions")
OFF = Switched("off", "Off", (), page="Ablation")
STANDS_IN = Choice[str]("stands_in", "Set to", "zero", ("zero",), page="Ablation")
NEURONS_OF = Choice[str]("neurons_of", "Any neuron of", "", page="Ablation")
ANY_NEURON = Number("any_neuron", "Number", 0, 0, page="Ablation")

# --- Masked language model, Translation, Vision ------------------------------------------------

CAUSAL = Flag("causal", "Causal mask", False, page="Masked language model")
# Ids that a person put at the beginning of a target, the last of them in place of another.
FORCED = Ids("forced", "Chosen tokens", (), most=512, page="Translation")
HEADS_ALIGNED = {"head": "this head", "layer": "mean of its layer", "all": "mean of all layers"}
SHOWN_HEADS = named("shown_heads", "Heads", HEADS_ALIGNED, "Translation")
ROWS_ALIGNED = {"output": "while it is predicted", "input": "with it as input"}
ALIGN_BY = named("align_by", "Row of a German word", ROWS_ALIGNED, "Translation")
TARGET = Text("target", "German", "", page="Translation", follows=True)
WAY = Choice[str]("way", "Whose attention", "head", page="Vision")
SHUFFLE = Number("shuffle", "Another order", 1, 1, 50, 1, page="Vision")

# --- Attention by hand: what begins with hand_ is chosen in the instrument ---------------------

BY_HAND = "1,0;0,1|1,0;0,1|1,0;0,1|"
HAND_CELLS = Text("hand_cells", "Q, K, V and W_O", BY_HAND, page="Attention by hand")
HAND_HEADS = Choice[int]("hand_heads", "Heads", 1, (1, 2), page="Attention by hand")
HAND_MASKING = Choice[str]("hand_masking", "Masking", "none", page="Attention by hand")
HAND_VALID = Number("hand_valid", "Valid keys", 2, 0, 6, page="Attention by hand")
HAND_SCALED = Flag("hand_scaled", "Divided by √d", True, page="Attention by hand")

DIMENSIONS_DRAWN = tuple(2**power for power in range(13))
ROOT_DIMENSION = Choice[int]("root_d", "d", 64, DIMENSIONS_DRAWN, page="Attention by hand")

# --- Kernels, Embeddings and similarity --------------------------------------------------------

KERNELS = {
    "gaussian": "Gaussian",
    "boxcar": "boxcar",
    "epanechnikov": "Epanechnikov",
    "triangular": "triangular",
    "constant": "constant",
}
SMOOTHING = named("smoothing", "Kernel", KERNELS, "Kernels")
WIDTH = Number("width", "Width", 0.5, 0.05, 3.0, 0.05, page="Kernels")
ASKED_AT = Number("asked_at", "Query x", 2.0, 0.0, 5.0, 0.05, page="Kernels")
HOUSE = together(
    "house",
    "House",
    Number("house_size", "Size, m²", 70, 40, 140, 1),
    Number("house_width", "Width, m²", 15, 5, 60, 1),
    page="Kernels",
)
VECTORS = together(
    "vectors",
    "a and b",
    Number("a_x", "a: x", 3.0, -5.0, 5.0, 0.1),
    Number("a_y", "a: y", 1.5, -5.0, 5.0, 0.1),
    Number("b_x", "b: x", 1.5, -5.0, 5.0, 0.1),
    Number("b_y", "b: y", 2.5, -5.0, 5.0, 0.1),
    Number("b_times", "b times", 1.5, 0.1, 3.0, 0.1),
    page="Embeddings and similarity",
)
NEAR_COUNT = Number("near_count", "Nearest", 10, 3, 30, page="Embeddings and similarity")

# --- Transformer block, Cheaper attention --------------------------------------------------------

NORMS = {"attn": "attention", "ffn": "the MLP"}
BLOCK_NORM = named("block_norm", "Norm of", NORMS, "Transformer block")
CHEAPER_WAYS = {
    "window": "window",
    "global": "window + global",
    "linear": "linear",
    "low_rank": "low rank",
}
CHEAPER = named("cheaper", "Way", CHEAPER_WAYS, "Cheaper attention")
KEPT_RANK = Number("kept_rank", "Rank r", 4, 1, 256, page="Cheaper attention")
TILE_SIZE = Number("tile_size", "Keys per tile", 4, 1, 512, page="Cheaper attention")
TILES_DONE = Number("tiles_done", "Tiles done", 2, 1, 512, 1, page="Cheaper attention")

# --- Notation, Recurrence, Scaling -------------------------------------------------------------

GROUPS = {
    "model": "of the model",
    "sizes": "Sizes",
    "indices": "Indices",
    "stream": "Stream",
    "attention": "Attention",
    "positions": "Positions and masks",
    "output": "Output",
    "experiments": "Experiments",
    "lessons": "Lessons",
    "signs": "Signs",
    "all": "all",
}
NOTATION_GROUP = named("notation", "Group", GROUPS, "Notation")
NOTATION_FORMULAS = Choice[str]("notation_formulas", "Formulas", "none", page="Notation")
NOTATION_WORDS = Text("notation_words", "Find", "", page="Notation")
ROW_TASK = named("row_task", "Task", {"reverse": "reverse", "copy": "copy"}, "Recurrence")
COUNTED = {"rows": "whole rows", "letters": "single letters"}
JUDGED_BY = named("judged_by", "Counted", COUNTED, "Recurrence")
ROW_LETTERS = Text("row_letters", "Letters a to z", "headlight", page="Recurrence")
ROW_PLACE = Number("row_place", "Token written", 1, 1, 36, page="Recurrence")
ROW_HEAD = Choice[int]("row_head", "Head of the Transformer", -1, page="Recurrence")
SCALING_COMPUTE = Number(
    "scaling_compute", "Compute, power of ten", 23.8, 18.0, 26.0, 0.1, page="Scaling"
)
LAWS = {
    "refitted": "Chinchilla 3, refitted",
    "printed": "Chinchilla 3, as printed",
    "kaplan": "Kaplan",
}
SCALING_LAW = named("scaling_law", "Law", LAWS, "Scaling")
SCALING_TIMES = Choice[int](
    "scaling_times",
    "Size beside the best",
    0,
    tuple(range(-5, 6)),
    page="Scaling",
    words=lambda octave: f"× {2**octave}" if octave >= 0 else f"× 1/{2**-octave}",
)
PARAMETERS = {"without": "without embeddings", "all": "with embeddings"}
SCALING_COUNTED = named("scaling_counted", "Parameters", PARAMETERS, "Scaling")

# --- Lab ---------------------------------------------------------------------------------------

LAB_VIEWS = {"new": "New training", "watch": "Trainings"}
LAB_VIEW = Choice[str](
    "lab", "Lab", "new", tuple(LAB_VIEWS), words=LAB_VIEWS.__getitem__, page="Lab", follows=True
)
LAB_TASK = Choice[str]("lab_task", "Task", "", page="Lab")
LAB_FIELDS = Text("lab_fields", "Fields", "", page="Lab")  # KEY=VALUE, a line each
LAB_RUN = Choice[str]("lab_run", "Training", "", page="Lab", follows=True)
LAB_BESIDE = Text("lab_beside", "Overlaid", "", page="Lab")  # names of trainings, a line each
LAB_FOLDER = Text("lab_folder", "Folder of a training", "", page="Lab")
LAB_TEXT = Choice[int]("lab_text", "Text", 0, page="Lab", follows=True)
LAB_STEP = Choice[int]("lab_step", "Step", 0, page="Lab", follows=True)
LAB_AGAINST = Choice[int]("lab_against", "Change since", -1, page="Lab")  # −1: nothing
LAB_HEAD = Text("lab_head", "Head", "", page="Lab")  # of those that form, as "1.0"
LAB_CURVES = {
    "loss": "loss",
    "perplexity": "perplexity",
    "bits": "bits per byte",
    "rate": "learning rate",
    "gradient": "gradient norm",
    "speed": "tokens per second",
    "induction": "induction",
}
LAB_CURVE = named("lab_curve", "Curve", LAB_CURVES, "Lab")

DECLARED = [x for x in globals().values() if isinstance(x, Setting)]
SETTINGS: dict[str, Setting] = {setting.name: setting for setting in DECLARED}
