"""Cache: keys and values as they enter a real cache, the bytes they take, the time they save."""

import tomllib
from dataclasses import asdict, dataclass

import numpy as np
import streamlit as st

from model.analysis.cost import KnownModel, cache_variants
from model.analysis.timing import fed_at_once
from model.decoding.cache_run import CacheRun
from model.kv_cache import cache_bytes
from viz import runs
from viz.figures.cache import bytes_text, cache_map
from viz.formulas.parts import cache_with_numbers
from viz.frame import ASSETS, controls, inspector, layout, settings, tables, words
from viz.frame.page import Page
from viz.frame.said import Said
from viz.frame.view import View
from viz.pages.generate import timing

COLUMNS = {
    "published": "as published, fp16",
    "eight_bits": "in 8 bits",
    "full_heads": "MHA",
    "grouped": "GQA (8 KV heads)",
    "latent": "MLA",
}


@dataclass(frozen=True)
class Shown:
    """What is chosen to be seen of the cache: keys or values, of one KV head or the mean of all."""

    part: str
    kv_head: int | None
    n_prefill: int
    n_cached: int


def render(view: View) -> None:
    """Draw the page."""
    shown = _controls(view)
    cached = runs.cache_run(view.handle, view.ids, shown.n_prefill)
    _picture(view, _lengths(cached, shown), shown)
    _bytes(view, cached, shown.n_cached)
    inspector.source(
        "model.kv_cache.KVCache",
        "model.kv_cache.LayerCache",
        "model.kv_cache.cache_bytes",
    )
    _check(view, cached, shown.n_cached)
    known = _known_models()
    n_tokens = _sizes(known)
    timing.section(view)
    inspector.export(view, {"Cache sizes": lambda: _sizes_csv(known, n_tokens)})


def _said(view: View) -> tuple[str, str]:
    """From when on nothing changes: under a mask that looks ahead in a prefix, once that is in."""
    prefix = fed_at_once(runs.decoder(view.handle))
    then = f"no longer change once the first {prefix} are in"
    return PAGE.line.replace("never change", "never change" if prefix == 1 else then), PAGE.more


# --- the cache as it fills --------------------------------------------------------------------


def _controls(view: View) -> Shown:
    config, n_tokens = view.config, len(view.tokens)
    least = min(fed_at_once(runs.decoder(view.handle)), n_tokens)
    kv_head = view.head * config.n_kv_heads // config.n_heads
    with layout.slim_row("cache"):
        part = controls.select(settings.CACHE_PART, width=130)
        heads = controls.select(settings.CACHE_HEADS, width=150)
        usual = max(least, n_tokens // 3, n_tokens - runs.LONG)
        prefill = settings.PREFILL.given(low=least, high=n_tokens, default=usual)
        n_prefill = controls.number(prefill)
        options = [0, *range(n_prefill, n_tokens + 1)]
        default = options[1 + 2 * (len(options) - 1) // 3]
        n_cached = controls.steps(settings.CACHED_TOKENS.given(options=options, default=default))
    return Shown(part, kv_head if heads == "this head" else None, n_prefill, n_cached)


def _lengths(cached: CacheRun, shown: Shown) -> np.ndarray:
    """Length of the vectors in the cache, of one KV head or the mean of all. Returns (L, T)."""
    vectors = cached.keys if shown.part == "keys" else cached.values
    lengths = [np.linalg.norm(x, axis=-1) for x in vectors]  # (n_kv_heads, T) each
    if shown.kv_head is None:
        return np.stack([x.mean(axis=0) for x in lengths])
    n_first = len(lengths[0])  # other layers may have more or fewer
    return np.stack([x[shown.kv_head * len(x) // n_first] for x in lengths])


def _picture(view: View, lengths: np.ndarray, shown: Shown) -> None:
    n_tokens = lengths.shape[1]
    config, kv_head, n_cached = view.config, shown.kv_head, shown.n_cached
    of = f"mean of {config.n_kv_heads} KV heads" if kv_head is None else f"KV head {kv_head}"
    title = f"Length of the {shown.part} in the cache, {of}: {n_cached} of {n_tokens} tokens cached"
    chart = cache_map(lengths, n_cached, shown.n_prefill, view.tokens, title)
    layout.show_chart(chart, key="filling")
    if kv_head is not None and config.n_kv_heads < config.n_heads:
        group = config.n_heads // config.n_kv_heads
        st.caption(f"H{view.head} uses KV head {kv_head}, which {group} heads share.")


def _bytes(view: View, cached: CacheRun, n_cached: int) -> None:
    config, used = view.config, cached.bytes_held[n_cached]
    figures = {
        "cached now": used,
        "per token": cached.bytes_reserved // config.max_seq_len,
        f"for {runs.decoder(view.handle).limit}": cached.bytes_reserved,
    }
    with st.container(key="cache-bytes"):
        words.facts([(bytes_text(n_bytes), name) for name, n_bytes in figures.items()])
    st.caption(
        "Measured from the cache's tensors: element size × number of elements, for each layer "
        "and KV head; a query is used once and not kept."
    )
    name = "model.kv_cache.cache_bytes"
    inspector.formula(name)
    sizes = (config.n_layers, config.n_kv_heads, config.d_head, n_cached, cached.bytes_per_value)
    if cache_bytes(*sizes) == used:
        inspector.formula(name, cache_with_numbers(*sizes, used))
    else:
        st.caption("The layers of this model differ in their sizes: the bytes are their sum.")


def _check(view: View, cached: CacheRun, n_cached: int) -> None:
    """How far what the cache holds is from the trace, and whether it was ever rewritten."""
    if not n_cached:
        st.caption("The cache is empty: there is nothing to check.")
        return
    errors = cached.errors(view.run.trace, n_cached)
    allowed = timing.ALLOWED_ERROR
    passed = max(errors) <= allowed and cached.is_kept
    kept = "did not change" if cached.is_kept else "CHANGED"
    inspector.check(
        passed,
        "what the cache holds against the trace of the whole sentence, max error of keys "
        f"{errors[0]:.1e} and of values {errors[1]:.1e} (allowed {allowed:.0e}). What one "
        f"step wrote {kept} in any later step.",
    )


# --- known models -----------------------------------------------------------------------------


def _known_models() -> list[KnownModel]:
    """The models of assets/known_models.toml."""
    text = (ASSETS / "known_models.toml").read_text(encoding="utf-8")
    return [KnownModel(**entry) for entry in tomllib.loads(text)["model"]]


def _sizes(known: list[KnownModel]) -> int:
    """The table of known models; gives back the number of tokens it is for."""
    layout.section(
        "KV-cache size in well-known models",
        "For one text of a given length; the sizes are as published.",
        "Bytes are computed from them; what comes after the first column of bytes is "
        "**hypothetical**: the same model with another cache, in fp16 unless it says 8 bits. MHA: "
        "each head with keys and values of its own. GQA: 8 KV heads. MLA as in DeepSeek-V2: a "
        "latent of 9/2 · d_head values per layer and token stands for keys and values of all heads "
        "(512 + 64 where d_head is 128).",
    )
    n_tokens = controls.number(settings.CONTEXT)
    rows = [_row(model, n_tokens) for model in known]
    words.table({name: [row[name] for row in rows] for name in rows[0]}, texts=["source"])
    short = [model.name for model in known if model.max_seq_len < n_tokens]
    if short:
        st.caption(
            f"{n_tokens:,} tokens are more than the published context of {', '.join(short)}; "
            "there the whole row is hypothetical."
        )
    return n_tokens


def _row(model: KnownModel, n_tokens: int) -> dict[str, Said]:
    """One model of the table, with the values that its layers keep of a token, as published.

    A cache that equals the published one says so.
    """
    sizes = cache_variants(model, n_tokens)
    same = {
        "full_heads": model.n_kv_heads == model.n_heads and not model.latent,
        "grouped": model.n_kv_heads == 8,
        "latent": bool(model.latent),
    }
    kept = f"2 × {model.n_kv_heads} × {model.d_head}"
    row: dict[str, Said] = {
        "model": model.name,
        "values per token": f"{model.n_layers} × {model.latent or kept}",
    }
    for (key, name), n_bytes in zip(COLUMNS.items(), sizes.values(), strict=True):
        said = "= published" if same.get(key) else bytes_text(n_bytes or 0)
        row[name] = "–" if n_bytes is None else said
    return row | {"context": f"{model.max_seq_len:,}", "source": model.source}


def _sizes_csv(known: list[KnownModel], n_tokens: int) -> bytes:
    """One line for each model: its sizes, and bytes of its cache as published and otherwise."""
    sizes = [cache_variants(model, n_tokens) for model in known]
    variants = {
        f"{name} (bytes)": tables.whole_numbers([of[name] for of in sizes]) for name in COLUMNS
    }
    rows = tables.frame([asdict(model) for model in known])
    return tables.frame_csv(rows.assign(tokens=n_tokens, **variants))


PAGE = Page(
    "KV cache",
    ":material/database:",
    "Keys and values of earlier tokens never change, so the model keeps them.",
    "Only those of the new token are computed. Here the sentence enters the model's own "
    "cache: its first tokens at once, the prefill, then one at a time, as in generation.",
    render,
    said=_said,
    needs=("decoder", "text", "cache"),
)
