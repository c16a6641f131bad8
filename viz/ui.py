"""The frame all pages share: one sentence, one model, one head; figures, sources, downloads."""

import html
import importlib
import inspect
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.verify.check import Check
from viz import controls, runs, say
from viz.figures.labels import token_labels, visible
from viz.formulas import FORMULAS
from viz.theme import Palette, page_style, palette

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
            say.notice(str(error), kind="error")
        controls.show_complaints()

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


def style() -> None:
    """Give the page the style of `viz.theme` in the browser's light or dark theme."""
    st.html(page_style(palette(st.context.theme.type)))


# --- what every page is opened with ---------------------------------------------------------


def page_picker(titles: list[str]) -> str:
    """Which page is open; the first one when the URL names none."""
    return controls.segments("Page", "page", {title: title for title in titles}, titles[0])


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
        model = controls.choice("Model", "model", names, names[0], width=190)
        device = _device_picker()
        run = runs.run(model, device, sentence)
        hold("run", run)
        layer, head = _head_pickers(run)
    view = View(sentence, model, device, run, layer, head, palette(st.context.theme.type))
    controls.show_complaints()
    _say_cut(run)
    with st.container(horizontal=True, vertical_alignment="center", key="status"):
        say.token_strip(view.tokens, runs.given_probabilities(run.trace))
        _badge(view, (*run.checks, *more_checks(view)))
    return view


def hold(name: str, run: runs.Run) -> None:
    """Keep a run for as long as this session shows it, so that its arrays can be asked for."""
    st.session_state[f"held-{name}"] = run


def _sentence_box() -> str:
    first = examples()[0].sentence
    controls.settle("sentence", first, lambda raw: (str(raw), None))
    text = st.text_input(
        "Sentence",
        key="sentence",
        persist_state="session",
        live="400ms",
        placeholder="Type a sentence",
    )
    controls.publish("sentence", text, first)
    if text.strip():
        return text
    controls.complain("Type a sentence to see it here. Until then, this is the example.")
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
    layer = controls.choice(
        "Layer", "layer", layers, min(first.layer, layers[-1]), "L{}".format, width=90
    )
    head = controls.choice(
        "Head", "head", heads, min(first.head, heads[-1]), "H{}".format, width=90
    )
    return layer, head


def switch_model(name: str) -> None:
    """Run another model from the next run on; of layer and head, the nearest it has."""
    st.session_state.update(model=name, is_switched=True)


def token_picker(view: View, label: str, key: str, default: int, name: str) -> int:
    """One of the sentence's tokens; `default` and its name may change with the sentence."""
    labels = token_labels(view.tokens)
    # −1, the default, stays what its name says however the sentence changes.
    chosen = controls.choice(
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
        "first": int(controls.kept_number("First position", "place_first", 0, most, first, 1)),
        "second": int(controls.kept_number("Second position", "place_second", 0, most, second, 1)),
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
    return controls.choice("Device", "device", devices, devices[0], str.upper, width=100)


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
        say.notice(
            f"The sentence has {shown + run.n_cut} tokens, the model's context is {shown}: "
            f"the first {shown} are shown, the last {run.n_cut} are cut."
        )


def what_to_look_for(view: View) -> None:
    """For an example sentence: what its head shows, whichever head is open."""
    for example in examples():
        if example.sentence == view.sentence:
            name = f"L{example.layer} H{example.head}"
            say.notice(f"Look for this in {name}: {example.look_for}.", kind="hint")


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


def formula(name: str, latex: str | None = None) -> None:
    """The formula of a function, or the same with numbers filled in, and its reference."""
    st.latex(latex or FORMULAS[name].latex)
    if latex is None:
        say.line(html.escape(FORMULAS[name].reference))


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
