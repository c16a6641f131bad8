"""Cache: keys and values as they fill a real cache, the bytes they take, the time they save."""

import tomllib

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis.cost import KnownModel
from viz import controls, runs, say, ui
from viz.figures.cache import bytes_text, filling_map, pace_lines
from viz.formulas import cache_with_numbers

TITLE = "Cache"
ICON = ":material/database:"

PARTS = ("keys", "values")
MEAN, CHOSEN = "all heads", "this head"
ALLOWED_ERROR = 1e-5  # as in model.verify for cached decoding
UNSTEADY = 1.5  # spread of the times from which the page warns
TICK_SECONDS, PAUSE_SECONDS = 0.3, 0.2  # how long to measure before the bar moves, and not to
COLUMNS = {
    "published": "as published, fp16",
    "eight_bits": "if in 8 bits",
    "full_heads": "if each head had its own",
    "grouped": "if 8 kv heads",
    "latent": "if a latent",
}


def render() -> None:
    """Draw the page."""
    view = ui.open_page()
    ui.heading(
        ICON,
        TITLE,
        "A token's keys and values do not change when more tokens follow, so the model keeps them "
        "and computes only those of the new token. Here the sentence enters the model's own "
        "cache: its first tokens at once, the prefill, then one at a time, as in generation.",
    )
    part, kv_head, n_prefill, n_held = _controls(view)
    controls.show_complaints()
    ids = tuple(view.run.trace.ids.tolist())
    filling = runs.fill(view.model, view.device, ids, n_prefill)
    lengths = _lengths(filling, part, kv_head)
    _picture(view, lengths, part, kv_head, n_prefill, n_held)
    _bytes(view, filling, n_held)
    ui.source(
        "model.decoding.kv_cache.KVCache",
        "model.decoding.kv_cache.LayerCache",
        "model.decoding.kv_cache.cache_bytes",
    )
    _check(view, filling, n_held)
    known = _known_models()
    n_tokens = _sizes(known)
    pace = _time(view)
    tables = {
        f"Lengths of {part}": lambda: _lengths_csv(view, lengths[:, :n_held]),
        "Cache sizes": lambda: _sizes_csv(known, n_tokens),
    }
    ui.export(view, "cache", tables | ({"Times": lambda: _pace_csv(pace)} if pace else {}))


# --- filling ----------------------------------------------------------------------------------


def _controls(view: ui.View) -> tuple[str, int | None, int, int]:
    """Keys or values, the kv head or None for all, tokens of the prefill, tokens held."""
    config, n_tokens = view.run.trace.config, len(view.tokens)
    least = min(runs.fed_at_once(view.model, view.device), n_tokens)
    kv_head = view.head * config.n_kv_heads // config.n_heads
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part = controls.choice("Show", "part", PARTS, PARTS[0], width=130)
        which = controls.choice("Heads", "heads", (MEAN, CHOSEN), MEAN, width=150)
        default = _followed("prefill", max(least, n_tokens // 3))
        n_prefill = controls.number("Prefill", "prefill", least, n_tokens, default)
        options = [0, *range(n_prefill, n_tokens + 1)]
        default = _followed("held", options[1 + 2 * (len(options) - 1) // 3])
        n_held = controls.steps("Tokens held", "held", options, default, str)
    return part, kv_head if which == CHOSEN else None, n_prefill, n_held


def _followed(key: str, default: int) -> int:
    """The default, which a control that a person left alone follows to another sentence."""
    if key in st.session_state and st.session_state[key] == st.session_state.get(f"default-{key}"):
        st.session_state[key] = default
    st.session_state[f"default-{key}"] = default
    return default


def _lengths(filling: runs.Filling, part: str, kv_head: int | None) -> np.ndarray:
    """Length of the vectors in the cache, of one kv head or the mean of all. Returns (L, T)."""
    vectors = filling.keys if part == PARTS[0] else filling.values
    lengths = np.linalg.norm(vectors, axis=-1)  # (L, n_kv_heads, T)
    return lengths.mean(axis=1) if kv_head is None else lengths[:, kv_head]


def _picture(
    view: ui.View,
    lengths: np.ndarray,
    part: str,
    kv_head: int | None,
    n_prefill: int,
    n_held: int,
) -> None:
    n_layers, n_tokens = lengths.shape
    config = view.run.trace.config
    of = f"mean of {config.n_kv_heads} kv heads" if kv_head is None else f"kv head {kv_head}"
    title = f"Length of the {part} in the cache, {of}: {n_held} of {n_tokens} tokens held"
    held = lengths[:, :n_held]
    span = f" from {held.min():.2f} to {held.max():.2f}" if n_held else ""
    ui.show_figure(
        filling_map(lengths, n_held, n_prefill, view.tokens, view.colors, title),
        key="filling",
        alt=f"Length of the {part} of each token in each of {n_layers} layers, {of}{span}. "
        f"The cache holds {n_held} of {n_tokens} tokens; the first {n_prefill} enter at once.",
    )
    if kv_head is not None and config.n_kv_heads < config.n_heads:
        group = config.n_heads // config.n_kv_heads
        st.caption(f"H{view.head} reads kv head {kv_head}, which {group} heads share.")


def _bytes(view: ui.View, filling: runs.Filling, n_held: int) -> None:
    config, used = view.run.trace.config, filling.bytes_held[n_held]
    per_token = filling.bytes_reserved // config.max_seq_len
    figures = {
        "Held now": f"{bytes_text(used)}",
        "Each token": f"{bytes_text(per_token)}",
        f"Full context, {config.max_seq_len:,} tokens": f"{bytes_text(filling.bytes_reserved)}",
    }
    for column, (label, text) in zip(st.columns(3), figures.items(), strict=True):
        column.metric(label, text)
    st.caption(
        "Measured from the cache's tensors: element size × number of elements. Kept for each "
        "layer and kv head; a query is used once and not kept."
    )
    ui.formula("model.decoding.kv_cache.cache_bytes")
    sizes = (config.n_layers, config.n_kv_heads, config.d_head, n_held, filling.bytes_per_value)
    ui.formula("model.decoding.kv_cache.cache_bytes", cache_with_numbers(*sizes, used))


def _check(view: ui.View, filling: runs.Filling, n_held: int) -> None:
    """How far what the cache holds is from the trace, and whether it was ever rewritten."""
    if not n_held:
        st.caption("The cache is empty: there is nothing to check.")
        return
    errors = runs.filling_errors(filling, view.run.trace, n_held)
    passed = max(errors) <= ALLOWED_ERROR and filling.is_kept
    kept = "did not change" if filling.is_kept else "CHANGED"
    _say_check(
        passed,
        "what the cache holds against the trace of the whole sentence, worst difference of keys "
        f"{errors[0]:.1e} and of values {errors[1]:.1e} (allowed {ALLOWED_ERROR:.0e}). What one "
        f"step wrote {kept} in any later step.",
    )


def _say_check(passed: bool, text: str) -> None:
    """A quiet line for a check that passed, an alert for one that did not."""
    if passed:
        st.caption(f":material/verified: Check passed: {text}")
    else:
        say.notice(f"Check FAILED: {text}", kind="error")


def _lengths_csv(view: ui.View, lengths: np.ndarray) -> bytes:
    tokens = view.tokens[: lengths.shape[1]]
    return ui.table_csv(lengths.T, tokens, [f"L{i}" for i in range(len(lengths))], "token")


# --- known models -----------------------------------------------------------------------------


def _known_models() -> list[KnownModel]:
    """The models of assets/known_models.toml."""
    text = (ui.ASSETS / "known_models.toml").read_text(encoding="utf-8")
    return [KnownModel(**entry) for entry in tomllib.loads(text)["model"]]


def _sizes(known: list[KnownModel]) -> int:
    """The table of known models; gives back the number of tokens it is for."""
    st.subheader("How large it gets")
    st.markdown(
        "One text in models people know. Only the first column of bytes is published; "
        "the others are **hypothetical**: the same model with another cache, in fp16 unless it "
        "says 8 bits. A latent as in DeepSeek-V2 is one vector of 9/2 · d_head numbers a layer and "
        "token that stands for keys and values of all heads (512 + 64 where d_head is 128)."
    )
    n_tokens = controls.number("Context", "context", 1, 10_000_000, 2048)
    controls.show_complaints()
    st.dataframe(
        pd.DataFrame([_row(model, n_tokens) for model in known]),
        hide_index=True,
        height="content",
        column_config={
            name: st.column_config.TextColumn(alignment="right") for name in COLUMNS.values()
        },
    )
    short = [model.name for model in known if model.max_seq_len < n_tokens]
    if short:
        st.caption(
            f"{n_tokens:,} tokens are more than the published context of {', '.join(short)}; "
            "there the whole row is hypothetical."
        )
    return n_tokens


def _row(model: KnownModel, n_tokens: int) -> dict[str, str]:
    """One model of the table; what equals the published cache says so."""
    sizes = runs.cache_variants(model, n_tokens)
    same = {
        "full_heads": model.n_kv_heads == model.n_heads and not model.latent,
        "grouped": model.n_kv_heads == 8,
        "latent": bool(model.latent),
    }
    texts = {
        name: "–" if n_bytes is None else "= published" if same.get(key) else bytes_text(n_bytes)
        for (key, name), n_bytes in zip(COLUMNS.items(), sizes.values(), strict=True)
    }
    return {"model": model.name, "numbers a token": _layout(model), **texts} | {
        "context": f"{model.max_seq_len:,}",
        "source": model.source,
    }


def _layout(model: KnownModel) -> str:
    """How many numbers are kept of a token: layers × those of one layer, as published."""
    if model.latent:
        return f"{model.n_layers} × {model.latent}"
    return f"{model.n_layers} × 2 × {model.n_kv_heads} × {model.d_head}"


def _sizes_csv(known: list[KnownModel], n_tokens: int) -> bytes:
    rows = [
        {
            "model": model.name,
            "tokens": n_tokens,
            "n_layers": model.n_layers,
            "n_heads": model.n_heads,
            "n_kv_heads": model.n_kv_heads,
            "d_head": model.d_head,
            "latent": model.latent,
            "window": model.window,
            **{f"{key} (bytes)": n for key, n in runs.cache_variants(model, n_tokens).items()},
            "source": model.source,
        }
        for model in known
    ]
    return pd.DataFrame(rows).to_csv(index=False).encode("utf-8-sig")


# --- time -------------------------------------------------------------------------------------


def _time(view: ui.View) -> runs.Pace | None:
    """Measure, and show and give back the last measurement of this model on this device."""
    st.subheader("What it saves")
    st.markdown(
        "Without a cache, each new token means running the whole text again. Both ways really run "
        "here, on this model, at growing lengths, on one CPU thread where there is no GPU, so that "
        "other work disturbs little; the medians are shown."
    )
    settings = (view.model, view.device)
    measuring = ui.remembered("measuring", settings)
    is_running = measuring is not None and measuring.is_running
    draw = ui.guarded(lambda: _measure_on(settings))
    st.fragment(draw, run_every=PAUSE_SECONDS if is_running else None)()
    # Nothing is drawn meanwhile: a browser at work on the same machine would be timed too.
    if measuring is None or is_running:
        return None
    pace = runs.pace(measuring.laps)
    if pace is None:
        say.notice("Stopped before two lengths were measured; there is nothing to show.")
    else:
        _measured(view, pace)
    return pace


def _measure_on(settings: tuple[str, str]) -> None:
    """The button, and while it runs the bar and the next times."""
    measuring = ui.remembered("measuring", settings)
    was_running = measuring is not None and measuring.is_running
    pressed = _button(measuring)
    if pressed and was_running:
        measuring.is_running = False
    elif pressed:
        measuring = runs.measure(*settings)
        ui.remember("measuring", settings, measuring)
    elif was_running:
        st.progress(measuring.progress, "Measuring …")
        measuring.advance(TICK_SECONDS)
    if pressed or (was_running and not measuring.is_running):
        st.rerun()  # the clock of the fragment starts or stops with the whole page


def _button(measuring: runs.Measuring | None) -> bool:
    if measuring is not None and measuring.is_running:
        return st.button("Stop", icon=":material/stop:")
    label = "Measure on this machine" if measuring is None else "Measure again"
    return st.button(label, icon=":material/timer:", type="primary")


def _measured(view: ui.View, pace: runs.Pace) -> None:
    """Both lines, the rates, how they grow, and whether both ways said the same."""
    lines = {"without cache": pace.without, "with cache": pace.with_cache}
    longest, fitted_from = max(pace.without), _fitted_from(pace)
    slow, fast = pace.without[longest], pace.with_cache[longest]
    fits = _fits(pace, lines, fitted_from)
    growing = "".join(
        f" {name.capitalize()} it grows as n to {a:.2f}." for name, (a, _) in fits.items()
    )
    _rates(pace, longest)
    title = f"Time for one more token: {slow / fast:.1f} times shorter at {longest} tokens"
    ui.show_figure(
        pace_lines(lines, fits, fitted_from, view.colors, title),
        key="pace",
        alt=f"Milliseconds for one more token by the length of the text. At {longest} tokens "
        f"{1000 * slow:.2f} without cache and {1000 * fast:.2f} with cache.{growing}",
    )
    fitted = (
        f" Dotted: the power of the length n that fits from {fitted_from} tokens on; before that, "
        "starting each operation costs more than the arithmetic. With more tokens the power nears "
        "2 without the cache, since every token is compared with every other, and 1 with it."
    )
    st.caption(
        f"Medians of {pace.n_rounds} rounds. Prefill takes all tokens at once, decoding one at a "
        f"time.{fitted if fits else ''}"
    )
    ui.source(
        "model.analysis.timing.time_tokens",
        "model.analysis.timing.medians",
        "model.analysis.timing.growth",
    )
    _say_check(
        pace.difference <= ALLOWED_ERROR,
        f"both ways gave the same logits, worst difference {pace.difference:.1e} (allowed "
        f"{ALLOWED_ERROR:.0e}).",
    )
    if pace.spread > UNSTEADY:
        say.notice(
            f"Other work disturbed this measurement: half of the times of one length lie a factor "
            f"of {pace.spread:.1f} apart, too unsteady to say how they grow. Measure again when "
            "the machine is quiet.",
            kind="hint",
        )


def _fits(
    pace: runs.Pace, lines: dict[str, dict[int, float]], fitted_from: int
) -> dict[str, tuple[float, float]]:
    """Exponent and factor of each line over its longer half; none of unsteady times."""
    if pace.spread > UNSTEADY:
        return {}
    return {
        name: runs.growth({n: s for n, s in seconds.items() if n >= fitted_from})
        for name, seconds in lines.items()
    }


def _fitted_from(pace: runs.Pace) -> int:
    """The middle length: the fit is over the longer half, and over two lengths at least."""
    lengths = sorted(pace.without)
    return lengths[(len(lengths) - 1) // 2]


def _rates(pace: runs.Pace, longest: int) -> None:
    slow, fast = pace.without[longest], pace.with_cache[longest]
    figures = {
        f"Token {longest:,} without cache": f"{1000 * slow:.2f} ms",
        f"Token {longest:,} with cache": f"{1000 * fast:.2f} ms",
        "Prefill, tokens/s": _per_second(pace.prefill),
        "Decode, tokens/s": _per_second(pace.decode),
    }
    for column, (label, text) in zip(st.columns(4), figures.items(), strict=True):
        column.metric(label, text)


def _per_second(rate: float | None) -> str:
    return "–" if rate is None else f"{rate:,.0f}"


def _pace_csv(pace: runs.Pace) -> bytes:
    frame = pd.DataFrame(
        {
            "tokens": list(pace.without),
            "without cache (ms)": [1000 * s for s in pace.without.values()],
            "with cache (ms)": [1000 * s for s in pace.with_cache.values()],
        }
    )
    return frame.to_csv(index=False).encode("utf-8-sig")
