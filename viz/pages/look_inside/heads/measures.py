"""How the measures of heads are called on screen, what they mean, and how they are written."""

from typing import NamedTuple

from model.analysis.heads import Trait
from viz.formulas import Formula


class Measure(NamedTuple):
    """A measure in words: on an axis, in a table, explained; its formula and its source."""

    name: str
    short: str
    means: str
    latex: str
    reference: str
    source: str
    is_signed: bool = False

    @property
    def formula(self) -> Formula:
        """How it is written, and where that is from."""
        return Formula(self.latex, self.reference)


_HEADS, _P = "model.analysis.heads", r"p_{ij}"
_MEAN = r"\frac{1}{|I|}\sum_{i \in I}"


def _on_keys(keys: str) -> str:
    return rf"{_MEAN} \sum_{{j \in J_i}} {_P}, \qquad J_i = {keys}"


MEASURES: dict[str, Measure] = {
    "previous": Measure(
        "Weight on the previous token", "previous", "the token before the query",
        _on_keys(r"\{i - 1\}"), "Voita et al. 2019, §5", f"{_HEADS}.previous_token",
    ),
    "next": Measure(
        "Weight on the next token", "next", "the token after the query, where the mask is open",
        _on_keys(r"\{i + 1\}"), "Voita et al. 2019, §5", f"{_HEADS}.next_token",
    ),
    "first": Measure(
        "Weight on the first token", "first", "the first token: a sink, the start, [CLS]",
        _on_keys(r"\{0\}"), "Xiao et al. 2023", f"{_HEADS}.first_token",
    ),
    "self": Measure(
        "Weight on itself", "self", "the token itself",
        _on_keys(r"\{i\}"), "the diagonal of the pattern", f"{_HEADS}.self_token",
    ),
    "same": Measure(
        "Weight on the same token", "same", "earlier copies of the same token",
        _on_keys(r"\{j < i : t_j = t_i\}"), "Wang et al. 2022, §3", f"{_HEADS}.same_token",
    ),
    "induction": Measure(
        "Weight after earlier copies", "after copies",
        "what came right after earlier copies of the token",
        _on_keys(r"\{j < i : t_{j-1} = t_i\}"), "Olsson et al. 2022", f"{_HEADS}.induction",
    ),
    "near": Measure(
        "Weight within 4 places", "near",
        "tokens 1 to 4 places before the query, and, where the mask is open, 4 after it",
        _on_keys(r"\{j : 1 \le |i - j| \le 4\}"), "local attention", f"{_HEADS}.near_tokens",
    ),
    "broad": Measure(
        "Broadness", "broad", "entropy of a row over the largest it can have",
        rf"{_MEAN} \frac{{-\sum_j {_P} \ln {_P}}}{{\ln n_i}}", "1: even rows; n keys are open",
        f"{_HEADS}.broadness",
    ),
    "sink": Measure(
        "Weight on its sink", "sink", "the head’s sink, which has no value",
        rf"{_MEAN} \Bigl(1 - \sum_j {_P}\Bigr)", "Xiao et al. 2024, §3.3", f"{_HEADS}.measures",
    ),
    "entropy": Measure(
        "Row entropy (bits)", "entropy", "how evenly a row is spread",
        rf"{_MEAN} \Bigl(-\sum_j {_P} \log_2 {_P}\Bigr)", "Shannon 1948", f"{_HEADS}.row_entropy",
    ),
    "largest": Measure(
        "Largest weight", "largest", "the largest weight of a row",
        rf"{_MEAN} \max_j {_P}", "“confidence”, Voita et al. 2019, §4",
        f"{_HEADS}.largest_weight",
    ),
    "distance": Measure(
        "Distance (tokens)", "distance", "how many tokens away the weight lies",
        rf"{_MEAN} \sum_j {_P}\,|i - j|", "mean attended distance", f"{_HEADS}.distance",
    ),
    "kept": Measure(
        "Kept with other words", "kept", "what stays of a row when the words change places",
        rf"{_MEAN} \sum_j \min({_P},\; p'_{{ij}})",
        "1 − total variation distance; p′: the same tokens in another order",
        f"{_HEADS}.kept_pattern",
    ),
    "moved": Measure(
        "Value moved", "moved", "norm of what is moved, against even weights",
        rf"{_MEAN} \frac{{\sum_j \lVert {_P}\, v_j W_O \rVert}}"
        r"{\frac{1}{n_i}\sum_{j} \lVert v_j W_O \rVert}",
        "Kobayashi et al. 2020, §3", f"{_HEADS}.moved_value",
    ),
    "prefix": Measure(
        "Prefix-matching score", "prefix", "weight after the earlier copy in random tokens",
        _on_keys(r"\{i - n + 1\}") + r",\quad t_{i} = t_{i-n}", "Olsson et al. 2022",
        "model.analysis.exchanged.prefix_matching",
    ),
    "copying": Measure(
        "Copying score", "copying", "above 0 it raises the logits of what it attends to",
        r"\frac{\sum_k \mathrm{Re}\,\lambda_k}{\sum_k |\lambda_k|},\qquad"
        r" \lambda_k \text{ of } W_E W_{OV} W_U",
        "Elhage et al. 2021: eigenvalues of the OV circuit; gains of the norms folded in",
        "model.analysis.circuits.copying_scores", is_signed=True,
    ),
}  # fmt: skip


class TraitWords(NamedTuple):
    """A word that a measure supports, and in a sentence what such heads do."""

    word: str
    does: str


TRAITS: dict[Trait, TraitWords] = {
    ("previous", False): TraitWords("previous token", "attend to the previous token"),
    ("next", False): TraitWords("next token", "attend to the next token"),
    ("first", False): TraitWords("first token", "attend to the first token"),
    ("self", False): TraitWords("itself", "attend to the token itself"),
    ("same", False): TraitWords("same token", "attend to earlier copies of the token"),
    ("induction", False): TraitWords("after copies", "attend to what followed earlier copies"),
    ("broad", False): TraitWords("broad", "spread their attention broadly"),
    ("sink", False): TraitWords("its sink", "look at their sink"),
    ("near", False): TraitWords("nearby", "attend mostly to tokens 1 to 4 places away"),
    ("prefix", False): TraitWords(
        "induction score", "attend after copies, on random tokens said twice"
    ),
    ("kept", False): TraitWords("by position", "keep half of their pattern with other words"),
    ("copying", False): TraitWords("copying", "raise the logits of the tokens they attend to"),
    ("copying", True): TraitWords("suppresses", "lower the logits of the tokens they attend to"),
    ("moved", True): TraitWords("moves little", "attend where values are small"),
}
NO_ROLE = "no single role"
