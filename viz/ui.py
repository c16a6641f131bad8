"""The controls and the frame all pages share: what a person sets, and how a figure is shown."""

import html
import importlib
import inspect
import math
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Literal, TypeVar
from urllib.parse import quote

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.verify import Check
from viz import runs
from viz.figures.labels import token_labels, visible
from viz.formulas import FORMULAS
from viz.theme import Palette, page_style, palette

Option = TypeVar("Option")

LONGEST_IN_URL = 8_000  # servers and browsers refuse addresses much longer
ASSETS = Path(__file__).resolve().parent.parent / "assets"


@dataclass(frozen=True)
class Example:
    """A sentence to start from and what it shows."""

    sentence: str
    layer: int
    head: int
    look_for: str
    cell: str  # query and key of what to look for, as 8-1


@dataclass(frozen=True, eq=False)
class View:
    """What a page draws: one run of one model, the chosen layer and head, and the colours."""

    sentence: str
    model: str
    device: str
    run: runs.Run
    layer: int
    head: int
    colors: Palette

    @property
    def tokens(self) -> tuple[str, ...]:
        """The sentence's tokens."""
        return self.run.trace.tokens

    @property
    def head_name(self) -> str:
        """The chosen head, as in L2 H5."""
        return f"L{self.layer} H{self.head}"


def examples() -> list[Example]:
    """The example sentences of assets/examples.toml."""
    entries = tomllib.loads((ASSETS / "examples.toml").read_text(encoding="utf-8"))["example"]
    return [Example(**entry) for entry in entries]


def notice(text: str, kind: str = "note") -> None:
    """One plain line to the person; `kind` is note, hint or error. The text is no markup."""
    role = "alert" if kind == "error" else "status"
    st.html(f'<p class="hl-{kind}" role="{role}">{html.escape(text)}</p>')


def run_first_example() -> None:
    """Fill the caches with what a first visitor sees; needs no visitor."""
    names = runs.model_names()
    if names:
        runs.run(names[0], runs.device_names()[0], examples()[0].sentence)


def guarded(draw: Callable[[], None]) -> Callable[[], None]:
    """Draw something that answers a person's mistake with one readable line."""

    def safely() -> None:
        try:
            draw()
        except ValueError as error:
            notice(str(error), kind="error")
        show_complaints()

    return safely


def remember(key: str, settings: object, value: object) -> None:
    """Keep a result of long work for as long as its settings stay the same."""
    st.session_state[f"remembered-{key}"] = (settings, value)


def remembered(key: str, settings: object) -> object:
    """What was kept for these settings, or None."""
    kept_settings, value = st.session_state.get(f"remembered-{key}", (None, None))
    return value if kept_settings == settings else None


def last(key: str) -> tuple | None:
    """What was kept last, with its settings, whether or not they are still the same."""
    return st.session_state.get(f"remembered-{key}")


def written(prompt: str, continuation: str) -> None:
    """The sentence and, set apart, what the model wrote behind it."""
    st.html(
        f'<p class="hl-written"><span>{html.escape(prompt)}</span>'
        f"<mark>{html.escape(continuation)}</mark></p>"
    )


def style() -> None:
    """Give the page the style of `viz.theme` in the browser's light or dark theme."""
    st.html(page_style(palette(st.context.theme.type)))


# --- shared controls ------------------------------------------------------------------------


def page_picker(titles: list[str]) -> str:
    """Which page is open; the first one when the URL names none."""
    return segments("Page", "page", {title: title for title in titles}, titles[0])


def open_page(more_checks: Callable[[View], Sequence[Check]] = lambda view: ()) -> View:
    """Draw the controls every page has and run the model on the sentence.

    `more_checks` gives the checks a page adds to the badge.
    """
    st.session_state["said"] = []
    names = runs.model_names()
    if not names:
        raise ValueError("no checkpoint in assets/checkpoints; train one, see README")
    with st.container(horizontal=True, vertical_alignment="bottom", key="controls"):
        sentence = _sentence_box()
        _example_picker()
        model = choice("Model", "model", names, names[0], width=190)
        device = _device_picker()
        run = runs.run(model, device, sentence)
        hold("run", run)
        layer, head = _head_pickers(run)
    view = View(sentence, model, device, run, layer, head, palette(st.context.theme.type))
    show_complaints()
    _say_cut(run)
    with st.container(horizontal=True, vertical_alignment="center", key="status"):
        token_strip(view.tokens, runs.given_probabilities(run.trace))
        _badge(view, (*run.checks, *more_checks(view)))
    return view


def hold(name: str, run: runs.Run) -> None:
    """Keep a run for as long as this session shows it, so that its arrays can be asked for."""
    st.session_state[f"held-{name}"] = run


def kept(
    key: str, default: Option, nearest: Callable[[object], tuple[Option, str | None]]
) -> Option:
    """A setting whose control is in the browser; it lives in the session and in the URL."""
    settle(key, default, nearest)
    return publish(key, st.session_state[key], default)


def kept_option(label: str, key: str, options: Sequence[Option], default: Option) -> Option:
    """One of several, set in the browser; an impossible value becomes the nearest, and says so."""
    return kept(key, default, lambda raw: _nearest_option(label, raw, options, default, str))


def kept_number(
    label: str, key: str, low: float, high: float, default: float, step: float
) -> float:
    """A number set in the browser; one outside, or between its steps, becomes the nearest."""

    def nearest(raw: object) -> tuple[float, str | None]:
        value, complaint = nearest_number(label, raw, low, high, default)
        on_step = round(round(value / step) * step, 10)
        if complaint is None and abs(on_step - value) > 1e-9:
            complaint = f"{label} {raw} is between steps of {step:g}; using {on_step:g}."
        return on_step, complaint

    return kept(key, default, nearest)


def choice(
    label: str,
    key: str,
    options: Sequence[Option],
    default: Option,
    name: Callable[[Option], str] = str,
    width: int | Literal["stretch"] = "stretch",
) -> Option:
    """A selectbox that lives in the URL; an impossible value becomes the nearest, and says so."""
    settle(key, default, lambda raw: _nearest_option(label, raw, options, default, name))
    value = st.selectbox(
        label, options, key=key, format_func=name, persist_state="session", width=width
    )
    return publish(key, value, default)


def segments(label: str, key: str, names: dict[str, str], default: str) -> str:
    """A row of buttons that lives in the URL, one of them pressed; `names` are what they say."""
    options = list(names)
    settle(key, default, lambda raw: _nearest_option(label, raw, options, default, names.get))
    value = st.segmented_control(
        label,
        options,
        default=st.session_state[key],
        required=True,
        key=key,
        persist_state="session",
        format_func=names.get,
        label_visibility="collapsed",
    )
    return publish(key, value, default)


def several(label: str, key: str, options: range, default: Sequence[int], most: int) -> list[int]:
    """Some of many numbers, in the URL as 0-20-50; those that do not exist are let go, and said."""

    def nearest(raw: object) -> tuple[str, str | None]:
        words = [word for word in str(raw).split("-") if word]
        good = [word for word in words if word.isdecimal() and int(word[:9]) in options][:most]
        lost = [word for word in words if word not in good]
        complaint = f"{label} {', '.join(lost)[:60]} cannot be shown here." if lost else None
        return "-".join(dict.fromkeys(good)), complaint

    usual = "-".join(map(str, default))
    settle(f"{key}_kept", usual, nearest)
    st.session_state[key] = [
        int(word) for word in st.session_state[f"{key}_kept"].split("-") if word
    ]

    def keep() -> None:
        st.session_state[f"{key}_kept"] = "-".join(map(str, st.session_state[key]))

    chosen = st.multiselect(label, options, key=key, max_selections=most, on_change=keep)
    publish(f"{key}_kept", st.session_state[f"{key}_kept"], usual)
    return chosen


def steps(
    label: str, key: str, options: Sequence[int], default: int, name: Callable[[int], str]
) -> int:
    """A slider over given values that lives in the URL; others become the nearest one."""
    settle(key, default, lambda raw: _nearest_option(label, raw, options, default, name))
    value = st.select_slider(label, options, key=key, format_func=name, persist_state="session")
    return publish(key, value, default)


def text(label: str, key: str, default: str) -> str:
    """A line of text that lives in the URL."""
    settle(key, default, lambda raw: (str(raw), None))
    value = st.text_input(label, key=key, persist_state="session", live="400ms")
    return publish(key, value, default)


def slider(label: str, key: str, low: float, high: float, default: float, step: float) -> float:
    """A slider that lives in the URL; a value outside becomes the nearest one, and says so."""
    settle(key, default, lambda raw: nearest_number(label, raw, low, high, default))
    value = st.slider(label, low, high, step=step, key=key, persist_state="session")
    return publish(key, value, default)


def number(label: str, key: str, low: int, high: int, default: int) -> int:
    """A whole number that lives in the URL; one outside becomes the nearest, and says so."""
    settle(key, default, lambda raw: nearest_number(label, raw, low, high, default))
    value = st.number_input(label, low, high, key=key, persist_state="session", width=130)
    return publish(key, value, default)


def settle(
    key: str, default: object, nearest: Callable[[object], tuple[object, str | None]]
) -> None:
    """Give a control its value before it is drawn: the session's, else the URL's, else the default.

    What is not possible (any more) becomes the nearest that is, and a line says so. Streamlit's own
    binding to the URL drops such values without a word, and forgets controls of other pages.
    """
    held = key in st.session_state
    raw = st.session_state[key] if held else st.query_params.get(key)
    value, complaint = (default, None) if raw is None else nearest(raw)
    if complaint:
        complain(complaint)
    if not held or value != raw:
        st.session_state[key] = value


def complain(text: str) -> None:
    """Keep a line about a setting until `show_complaints`, so that controls stay in their row."""
    st.session_state.setdefault("complaints", []).append(text)


def show_complaints() -> None:
    """Say, once, what was mended since the last time."""
    for text in dict.fromkeys(st.session_state.pop("complaints", [])):
        st.session_state.setdefault("said", []).append(text)
        notice(text)


def repeat_complaints() -> None:
    """Say them again when the page is drawn again though nobody asked for anything."""
    st.session_state.setdefault("complaints", []).extend(st.session_state.get("said", []))


def publish(key: str, value: Option, default: Option) -> Option:
    """Write a control's value into the URL, or take it out when it is the default."""
    if value == default:
        st.query_params.pop(key, None)
    elif len(quote(str(value))) > LONGEST_IN_URL:
        st.query_params.pop(key, None)
        complain(f"Too long for the address: {key}. A copied link opens without it.")
    elif st.query_params.get(key) != str(value):
        st.query_params[key] = str(value)
    return value


def _nearest_option(
    label: str,
    raw: object,
    options: Sequence[Option],
    default: Option,
    name: Callable[[Option], str],
) -> tuple[Option, str | None]:
    if raw in options:
        return raw, None
    for option in options:
        if str(raw) in (str(option), name(option)):
            return option, None
    value, wanted = default, _number(str(raw).lstrip("LH"))
    if wanted is not None and isinstance(default, int):
        within = min(max(wanted, min(options)), max(options))  # an infinity has no nearest
        value = min(options, key=lambda option: abs(option - within))
    return value, f"{label} {_shown(raw)} does not exist here; showing {name(value)}."


def nearest_number(
    label: str, raw: object, low: float, high: float, default: float
) -> tuple[float, str | None]:
    """A number within bounds, the default for what is none, and a line about what was mended."""
    wanted = _number(raw)
    if wanted is None:
        return default, f"{label} {_shown(raw)} is no number; using {_plain(default)}."
    value = type(default)(min(max(wanted, low), high))
    if value != wanted and low <= wanted <= high:
        return value, f"{label} {raw} is no whole number; using {_plain(value)}."
    if value != wanted:
        range_ = f"{_plain(low)} to {_plain(high)}"
        return value, f"{label} {raw} is outside {range_}; using {_plain(value)}."
    return value, None


def _shown(raw: object) -> str:
    """What a person gave, as it is named in a line."""
    return str(raw).strip() or "(empty)"


def _plain(number: float) -> str:
    """A number as people write it."""
    return f"{number:,}" if isinstance(number, int) else f"{number:g}"


def _number(raw: object) -> float | None:
    try:
        value = float(str(raw))
    except ValueError:
        return None
    return None if math.isnan(value) else value


def _sentence_box() -> str:
    first = examples()[0].sentence
    settle("sentence", first, lambda raw: (str(raw), None))
    text = st.text_input(
        "Sentence",
        key="sentence",
        persist_state="session",
        live="400ms",
        placeholder="Type a sentence",
    )
    publish("sentence", text, first)
    if text.strip():
        return text
    complain("Type a sentence to see it here. Until then, this is the example.")
    return first


def _example_picker() -> None:
    by_sentence = {example.sentence: example for example in examples()}

    def open_example() -> None:
        example = by_sentence[st.session_state["example"]]
        st.session_state.update(
            sentence=example.sentence,
            layer=example.layer,
            head=example.head,
            cell=example.cell,
            cell_of=example.sentence,
            example=None,
        )

    st.selectbox(
        "Examples",
        list(by_sentence),
        index=None,
        key="example",
        placeholder="choose one",
        format_func=lambda sentence: f"{sentence[:24]}…",
        on_change=open_example,
        width=210,
    )


def _head_pickers(run: runs.Run) -> tuple[int, int]:
    config, first = run.trace.config, examples()[0]
    layers, heads = range(config.n_layers), range(config.n_heads)
    if st.session_state.pop("is_switched", False):  # nobody asked for another layer or head
        for key, numbers in (("layer", layers), ("head", heads)):
            if key in st.session_state:
                st.session_state[key] = min(st.session_state[key], numbers[-1])
    layer = choice("Layer", "layer", layers, min(first.layer, layers[-1]), "L{}".format, width=90)
    head = choice("Head", "head", heads, min(first.head, heads[-1]), "H{}".format, width=90)
    return layer, head


def switch_model(name: str) -> None:
    """Run another model from the next run on; of layer and head, the nearest it has."""
    st.session_state.update(model=name, is_switched=True)


def token_picker(view: View, label: str, key: str, default: int, name: str) -> int:
    """One of the sentence's tokens; `default` and its name may change with the sentence."""
    labels = token_labels(view.tokens)
    # −1, the default, stays what its name says however the sentence changes.
    chosen = choice(
        label,
        key,
        range(-1, len(labels)),
        -1,
        lambda i: f"{name}: {labels[default]}" if i < 0 else f"{i}: {labels[i]}",
        width=220,
    )
    return default if chosen < 0 else chosen


def places(first: int, second: int, most: int, of: object) -> dict[str, int]:
    """Two positions set in the browser; they start anew when what they are `of` changes."""
    if st.session_state.setdefault("places_of", of) != of:
        st.session_state.update(place_first=first, place_second=second, places_of=of)
    return {
        "first": int(kept_number("First position", "place_first", 0, most, first, 1)),
        "second": int(kept_number("Second position", "place_second", 0, most, second, 1)),
    }


def take_over_places(changes: dict[str, object]) -> None:
    """Keep the positions a person set in the browser."""
    st.session_state.update({f"place_{name}": value for name, value in changes.items()})


def position_picker(view: View) -> int:
    """The position whose successor is predicted."""
    return token_picker(view, "After token", "after", len(view.tokens) - 1, "last")


def _device_picker() -> str:
    """The device to run on, where there is a choice; else the only one there is."""
    devices = runs.device_names()
    if len(devices) == 1:
        return devices[0]
    return choice("Device", "device", devices, devices[0], str.upper, width=100)


def _badge(view: View, checks: Sequence[Check]) -> None:
    """Model, device, and how many checks this run passed, with the list behind it."""
    config = view.run.trace.config
    with st.popover(_verdict(checks, f"{view.device.upper()} · "), key="badge"):
        st.markdown(
            f"**{view.model}**: {config.n_layers} layers × {config.n_heads} heads, d_model "
            f"{config.d_model}, context {config.max_seq_len}, running on **{view.device.upper()}**"
        )
        st.caption(
            "Attention is recomputed in float64 from q, k, v and the mask; what needs weights runs "
            "again through the model's own modules, and the whole sentence without capture. Errors "
            "are the largest difference found, relative to the largest value where above one."
        )
        st.dataframe(checks_table(checks), hide_index=True, height="content")


def checked(what: str, checks: Sequence[Check], key: str) -> None:
    """How many checks a further run passed, with the list behind it. `what` is ours."""
    with st.popover(_verdict(checks, f"{what}: "), key=f"checks-{key}"):
        st.dataframe(checks_table(checks), hide_index=True, height="content")


def _verdict(checks: Sequence[Check], before: str) -> str:
    n_failed, worst = runs.verdict(checks)
    if n_failed:
        return f":material/error: {before}{n_failed} of {len(checks)} checks failed"
    return f":material/verified: {before}{len(checks)} checks, worst error {worst.error:.0e}"


def identities(checks: Sequence[Check]) -> None:
    """Promises of a scheme, each with the worst error measured in this run. The names are ours."""
    for item in checks:
        verdict = "holds" if item.passed else "FAILS"
        allowed = f"{item.bound:.0e}" if item.bound else "0"
        kind = "good" if item.passed else "error"
        st.html(
            f'<p class="hl-{kind}" role="status">{html.escape(item.name)}: worst error '
            f"<b>{item.error:.1e}</b>, allowed {allowed}: <b>{verdict}</b></p>"
        )


def checks_table(checks: Sequence[Check]) -> pd.DataFrame:
    """The self-check as a table: what, worst error, bound, verdict."""
    return pd.DataFrame(
        {
            "check": [item.name for item in checks],
            "worst error": [f"{item.error:.1e}" for item in checks],
            "allowed": [f"{item.bound:.0e}" if item.bound else "0" for item in checks],
            "verdict": ["passed" if item.passed else "FAILED" for item in checks],
        }
    )


def _say_cut(run: runs.Run) -> None:
    if run.n_cut:
        shown = len(run.trace.tokens)
        notice(
            f"The sentence has {shown + run.n_cut} tokens, the model's context is {shown}: "
            f"the first {shown} are shown, the last {run.n_cut} are cut."
        )


def token_strip(
    tokens: Sequence[str],
    probabilities: np.ndarray,
    *,
    numbers: bool = False,
    marked: int | None = None,
) -> None:
    """The sentence's tokens, each underlined by the probability the model gave it.

    `numbers` writes the probability below each token; `marked` is the token to frame.
    """
    pieces = []
    for number, (label, probability) in enumerate(
        zip(token_labels(tokens), probabilities, strict=True)
    ):
        known = bool(np.isfinite(probability))
        title = f"token {number}: " + (f"p = {probability:.4f}" if known else "nothing before it")
        share = 100 * probability if known else 0
        below = f"<small>{_short(probability)}</small>" if numbers else ""
        css_class = "hl-token hl-marked" if number == marked else "hl-token"
        pieces.append(
            f'<span class="{css_class}" title="{title}" style="--share:{share:.0f}%">'
            f"<bdi>{html.escape(label)}</bdi>{below}</span>"
        )
    legend = f'<span class="hl-legend">{_legend(token_labels(tokens))}</span>'
    inside = "".join([*pieces, legend])
    st.html(f'<div class="hl-strip" tabindex="0" role="group" aria-label="Tokens">{inside}</div>')


def _legend(labels: Sequence[str]) -> str:
    """What the bars and the signs in these labels mean."""
    signs = {
        "…": "… continues a word",
        "␣": "␣ is a space",
        "⏎": "⏎ is a line break",
        "·1/": "·1/2 is a part of a character",
    }
    used = [words for sign, words in signs.items() if any(sign in label for label in labels)]
    return "; ".join(["bar: the probability the model gave the token", *used])


def _short(probability: float) -> str:
    """A probability in five characters; the first token has none."""
    if not np.isfinite(probability):
        return "–"
    return "&lt;.001" if probability < 0.001 else f"{probability:.3f}"


def what_to_look_for(view: View) -> None:
    """For an example sentence: what its head shows, whichever head is open."""
    for example in examples():
        if example.sentence == view.sentence:
            name = f"L{example.layer} H{example.head}"
            notice(f"Look for this in {name}: {example.look_for}.", kind="hint")


# --- what a page is made of -----------------------------------------------------------------


def heading(icon: str, title: str, text: str) -> None:
    """The page's name and, in a sentence or two, what is seen here. Our own words only."""
    st.title(f"{icon} {title}", anchor=False)
    st.markdown(text)


def section(title: str, text: str) -> None:
    """A part of a page: its name and, in a sentence or two, what is seen. Our own words only."""
    st.subheader(title, anchor=False)
    st.markdown(text)


def row(key: str) -> DeltaGenerator:
    """Controls side by side."""
    return st.container(horizontal=True, vertical_alignment="bottom", key=f"row-{key}")


def two_up(key: str, widths: tuple[int, int] = (1, 1)) -> list[DeltaGenerator]:
    """Two columns that stand below each other where the page is narrow."""
    with st.container(key=f"two-up-{key}"):
        return st.columns(widths)


def show_figure(
    figure: go.Figure, *, key: str, alt: str, on_select: Callable[[], None] | None = None
) -> None:
    """Draw a figure with our colours, a menu that saves it, and a text alternative."""
    config = {
        "displaylogo": False,
        "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"],
        "toImageButtonOptions": {
            "format": st.session_state.get("image_format", "png"),
            "filename": f"headlight-{key}",
            "scale": 2,
        },
    }
    selection = {"on_select": on_select, "selection_mode": "points"} if on_select else {}
    st.plotly_chart(figure, theme=None, key=f"figure-{key}", config=config, alt=alt, **selection)


def pair(tokens: Sequence[str], query: int, key: int, text: str) -> None:
    """A line about one query and one key; `text` is ours, the tokens are a person's."""
    labels = token_labels(tokens)
    _line(f"{html.escape(text)} {_chip(labels[query])} reads {_chip(labels[key])}")


def words(what: str, tokens: Sequence[str]) -> None:
    """Tokens in a row behind a word or two of ours."""
    chips = "".join(map(_chip, token_labels(tokens)))
    st.html(
        f'<div class="hl-strip"><span class="hl-legend">{html.escape(what)}</span>{chips}</div>'
    )


def lessons(inputs: Sequence[str], targets: Sequence[str], probabilities: np.ndarray) -> None:
    """What goes in at each position, what should come out, and how likely the model found it."""
    columns = [
        f'<span class="hl-lesson"><small>{number}</small>{_chip(read)}'
        f'<span aria-hidden="true">↓</span>{_chip(said)}<small>{_short(probability)}</small></span>'
        for number, (read, said, probability) in enumerate(
            zip(token_labels(inputs), token_labels(targets), probabilities, strict=True)
        )
    ]
    legend = (
        '<span class="hl-lesson hl-legend"><small>position</small><span>input</span><span></span>'
        "<span>target</span><small>p of the target</small></span>"
    )
    inside = "".join([legend, *columns])
    st.html(
        '<div class="hl-strip hl-lessons" tabindex="0" role="group" '
        f'aria-label="Inputs and targets">{inside}</div>'
    )


def lessons_csv(inputs: Sequence[str], targets: Sequence[str], probabilities: np.ndarray) -> bytes:
    """The same as a table."""
    frame = pd.DataFrame(
        {
            "position": range(len(inputs)),
            "input": list(map(visible, inputs)),
            "target": list(map(visible, targets)),
            "probability": probabilities,
        }
    )
    return frame.to_csv(index=False).encode("utf-8-sig")


def token_line(text: str, token: str) -> None:
    """A line about one token; `text` is ours."""
    _line(f"{html.escape(text)} {_chip(visible(token))}")


def _line(inner_html: str) -> None:
    st.html(f'<p class="hl-pair">{inner_html}</p>')


def _chip(label: str) -> str:
    return f'<span class="hl-token"><bdi>{html.escape(label)}</bdi></span>'


def formula(name: str, latex: str | None = None) -> None:
    """The formula of a function, or the same with numbers filled in, and its reference."""
    st.latex(latex or FORMULAS[name].latex)
    if latex is None:
        _line(html.escape(FORMULAS[name].reference))


@st.fragment
def source(*names: str) -> None:
    """The code that computed what is shown, as it ran; fetched when a person opens it.

    Drawn from the start, the highlighter would hold up the first heat map by half a second.
    """
    label = "Source: " + ", ".join(name.rsplit(".", 1)[-1] for name in names)
    box = st.expander(label, key=f"source-{names[0]}", on_change="rerun")
    if box.open:
        with box:
            for name in names:
                st.caption(name)
                st.code(inspect.getsource(_resolve(name)), language="python")


def _resolve(dotted: str) -> FunctionType | type:
    module, name = dotted.rsplit(".", 1)
    return getattr(importlib.import_module(module), name)


def numbers_csv(values: np.ndarray, corner: str) -> bytes:
    """A matrix as CSV, rows and columns numbered from 0."""
    frame = pd.DataFrame(values)
    frame.index.name = corner
    return frame.to_csv().encode("utf-8-sig")


def table_csv(
    values: np.ndarray, rows: Sequence[str], columns: Sequence[str], corner: str
) -> bytes:
    """A matrix as CSV with token labels on both sides; UTF-8 with a byte-order mark, for Excel."""
    frame = pd.DataFrame(values, index=_numbered(rows), columns=_numbered(columns))
    frame.index.name = corner
    return frame.to_csv().encode("utf-8-sig")


def _numbered(tokens: Sequence[str]) -> list[str]:
    return [f"{i} {visible(token)}" for i, token in enumerate(tokens)]


def export(
    view: View, key: str, csv_files: dict[str, Callable[[], bytes]], *, camera: bool = True
) -> None:
    """Downloads: each table of the page as CSV, the whole trace as npz, and the picture format.

    `camera` says whether the page has charts whose camera saves in that format.
    """
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"export-{key}"):
        for name, make in csv_files.items():
            st.download_button(
                f"{name} (CSV)",
                make,
                file_name=f"headlight-{name.lower().replace(' ', '-')}.csv",
                mime="text/csv",
                icon=":material/table:",
                on_click="ignore",
            )
        st.download_button(
            "Whole trace (npz)",
            lambda: runs.trace_npz(view.run),
            file_name=f"headlight-{view.model}.npz",
            icon=":material/dataset:",
            on_click="ignore",
        )
        if not camera:
            return
        st.segmented_control(
            "Chart camera saves",
            ["png", "svg"],
            default="png",
            required=True,
            key="image_format",
            persist_state="session",
            format_func=str.upper,
        )
