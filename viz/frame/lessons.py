"""What a person can change in the lessons; see `viz.frame.settings`."""

from viz.frame.kinds import Choice, Flag, Number, Text
from viz.frame.settings import declared, named
from viz.live.by_hand import data as by_hand

ON_BY_HAND = ("Attention by hand",)
ON_ROOT = ("Why √d?",)
ON_KERNELS = ("Kernels",)
ON_SIMILARITY = ("Embeddings and similarity",)
ON_SEVERAL = ("Multi-head attention",)
ON_BLOCK = ("Transformer block",)
ON_RESIDUAL = ("Why the residual?",)
ON_CHEAPER = ("Cheaper attention",)
ON_NOTATION = ("Notation",)
ON_ORDER = ("Order",)
ON_RECURRENCE = ("Recurrence",)
ON_SCALING = ("Scaling",)

# --- Attention by hand: all are chosen in the instrument --------------------------------------

HAND_CELLS = declared(
    Text("hand_cells", "Q, K, V and W_O", "1,0;0,1|1,0;0,1|1,0;0,1|", pages=ON_BY_HAND)
)
HAND_HEADS = declared(Choice[int]("hand_heads", "Heads", 1, (1, 2), pages=ON_BY_HAND))
HAND_MASKING = named("hand_masking", "Masking", by_hand.MASKING, ON_BY_HAND)
HAND_VALID = declared(Number("hand_valid", "Valid keys", 2, 0, 6, pages=ON_BY_HAND))
HAND_SCALED = declared(Flag("hand_scaled", "Divided by √d", True, pages=ON_BY_HAND))

# --- Why √d? ------------------------------------------------------------------------------------

ROOT_DIMENSION = declared(
    Choice[int]("root_d", "d", 64, tuple(2**power for power in range(13)), pages=ON_ROOT)
)
ROOT_SEED = declared(Number("root_seed", "Random draw", 0, 0, 999_999, pages=ON_ROOT))

# --- Kernels ------------------------------------------------------------------------------------

SMOOTHING = named(
    "smoothing",
    "Kernel",
    {
        "gaussian": "Gaussian",
        "boxcar": "boxcar",
        "epanechnikov": "Epanechnikov",
        "triangular": "triangular",
        "constant": "constant",
    },
    ON_KERNELS,
)
WIDTH = declared(Number("width", "Width", 0.5, 0.05, 3.0, 0.05, pages=ON_KERNELS))
ASKED_AT = declared(Number("asked_at", "Query x", 2.0, 0.0, 5.0, 0.05, pages=ON_KERNELS))
POINTS = declared(Number("points", "Random draw", 0, 0, 999_999, pages=ON_KERNELS))
HOUSE_SIZE = declared(Number("house_size", "Size, m²", 70, 40, 140, 1, pages=ON_KERNELS))
HOUSE_WIDTH = declared(Number("house_width", "Width, m²", 15, 5, 60, 1, pages=ON_KERNELS))
ADDITIVE_SEED = declared(
    Number("additive_seed", "Random draw of W, U and v", 0, 0, 999_999, pages=ON_KERNELS)
)

# --- Embeddings and similarity ------------------------------------------------------------------

A_X = declared(Number("a_x", "a: x", 3.0, -5.0, 5.0, 0.1, pages=ON_SIMILARITY))
A_Y = declared(Number("a_y", "a: y", 1.5, -5.0, 5.0, 0.1, pages=ON_SIMILARITY))
B_X = declared(Number("b_x", "b: x", 1.5, -5.0, 5.0, 0.1, pages=ON_SIMILARITY))
B_Y = declared(Number("b_y", "b: y", 2.5, -5.0, 5.0, 0.1, pages=ON_SIMILARITY))
B_TIMES = declared(Number("b_times", "b times", 1.5, 0.1, 3.0, 0.1, pages=ON_SIMILARITY))
NEAR_TOKEN = declared(Choice[int]("near_token", "Token", -1, pages=ON_SIMILARITY))
NEAR_COUNT = declared(Number("near_count", "Nearest", 10, 3, 30, pages=ON_SIMILARITY))

# --- Multi-head attention -----------------------------------------------------------------------

SPLIT_TOKEN = declared(Choice[int]("split_token", "Token", -1, pages=ON_SEVERAL))

# --- Transformer block --------------------------------------------------------------------------

BLOCK_TOKEN = declared(Choice[int]("block_token", "Token", -1, pages=ON_BLOCK))
BLOCK_COLOUR = named(
    "block_colour", "Colours", {"own": "each step its own", "one": "one scale"}, ON_BLOCK
)
BLOCK_NORM = named(
    "block_norm", "Norm of", {"attn": "attention", "ffn": "the feed-forward"}, ON_BLOCK
)

# --- Why the residual? --------------------------------------------------------------------------

DEPTH = declared(Choice[int]("depth", "Blocks", 48, (2, 4, 8, 16, 32, 48), pages=ON_RESIDUAL))
DEPTH_SEED = declared(Number("depth_seed", "Random draw", 0, 0, 999_999, pages=ON_RESIDUAL))
# --- Cheaper attention --------------------------------------------------------------------------

CHEAPER = named(
    "cheaper",
    "Way",
    {"window": "window", "global": "window + global", "linear": "linear", "low_rank": "low rank"},
    ON_CHEAPER,
)
KEPT_WINDOW = declared(Number("kept_window", "Window w", 4, 1, 512, pages=ON_CHEAPER))
KEPT_GLOBAL = declared(Number("kept_global", "Global g", 1, 0, 512, pages=ON_CHEAPER))
KEPT_RANK = declared(Number("kept_rank", "Rank r", 4, 1, 256, pages=ON_CHEAPER))
TILED_QUERY = declared(Choice[int]("tiled_query", "Query", -1, pages=ON_CHEAPER))
TILE_SIZE = declared(Number("tile_size", "Keys per tile", 4, 1, 512, pages=ON_CHEAPER))
TILES_DONE = declared(Number("tiles_done", "Tiles done", 2, 1, 512, 1, pages=ON_CHEAPER))

# --- Order --------------------------------------------------------------------------------------

ORDER_TEXT = declared(Text("order_text", "Words", "dog bites man", pages=ON_ORDER))

# --- Notation -----------------------------------------------------------------------------------

NOTATION_GROUP = named(
    "notation",
    "Group",
    {
        "all": "all",
        "sizes": "Sizes",
        "indices": "Indices",
        "stream": "Stream",
        "attention": "Attention",
        "positions": "Positions and masks",
        "output": "Output",
        "experiments": "Experiments",
        "lessons": "Lessons",
        "signs": "Signs",
    },
    ON_NOTATION,
)
NOTATION_WORDS = declared(Text("notation_words", "Find", "", pages=ON_NOTATION))

# --- Recurrence ---------------------------------------------------------------------------------

ROW_TASK = named("row_task", "Task", {"reverse": "reverse", "copy": "copy"}, ON_RECURRENCE)
JUDGED_BY = named(
    "judged_by", "Counted", {"rows": "whole rows", "letters": "single letters"}, ON_RECURRENCE
)
ROW_LETTERS = declared(Text("row_letters", "Letters a to z", "headlight", pages=ON_RECURRENCE))
ROW_PLACE = declared(Number("row_place", "Token written", 1, 1, 36, pages=ON_RECURRENCE))
ROW_HEAD = declared(Choice[int]("row_head", "Head of the Transformer", -1, pages=ON_RECURRENCE))

# --- Scaling ------------------------------------------------------------------------------------

SCALING_COMPUTE = declared(
    Number("scaling_compute", "Compute, power of ten", 23.8, 18.0, 26.0, 0.1, pages=ON_SCALING)
)
SCALING_LAW = named(
    "scaling_law",
    "Law",
    {
        "refitted": "Chinchilla, refitted",
        "printed": "Chinchilla, as printed",
        "kaplan": "Kaplan",
    },
    ON_SCALING,
)
SCALING_TIMES = declared(
    Choice[int](
        "scaling_times",
        "Size beside the best",
        0,
        tuple(range(-5, 6)),
        pages=ON_SCALING,
        words=lambda octave: f"× {2**octave}" if octave >= 0 else f"× 1/{2**-octave}",
    )
)
SCALING_COUNTED = named(
    "scaling_counted",
    "Parameters",
    {"without": "without embeddings", "all": "with embeddings"},
    ON_SCALING,
)
