"""The cache with its two parts: one grows with the German, one is the English's and stays."""

from model.decoding.cache_run import TwoParts
from model.decoding.translation import Written
from model.kv_cache import cache_bytes
from viz import runs
from viz.figures.cache import bytes_text
from viz.figures.translation import cache_growth
from viz.formulas.parts import cache_with_numbers
from viz.frame import inspector, layout, words
from viz.frame.view import View
from viz.runs import translating

KV_CACHE = "model.kv_cache"


def section(view: View, written: Written) -> None:
    """Draw both parts, measured in this run."""
    layout.section(
        "KV cache: two parts",
        "Keys and values of the German grow with it; those of the English are computed once.",
        "Measured from the cache’s tensors while this translation is fed in token by token.",
    )
    end_id = runs.tokenizer(view.handle).end_id
    target = tuple(i for i in written.ids if i != end_id)
    parts = translating.cache_parts(view.handle, view.sentence, target)
    chart = cache_growth(parts.own, parts.of_source, "Bytes in the cache, by token")
    layout.show_chart(chart, key="cache-parts")
    inspector.source(f"{KV_CACHE}.StaticLayerCache", "model.decoding.cache_run.two_parts")
    _bytes(view, parts)


def _bytes(view: View, parts: TwoParts) -> None:
    """What was measured, and what the sizes in the config give."""
    model = translating.translator(view.handle)
    config, n_bytes_of_one = model.config, model.dtype.itemsize
    n_source, n_target = len(view.run.trace.streams[0]), len(parts.own) - 1
    measured = (parts.own[-1], parts.of_source[-1])
    words.facts(
        [
            (bytes_text(parts.own[1]), "self-attention, per German token"),
            (bytes_text(measured[0]), "self-attention, now"),
            (bytes_text(measured[1]), "cross-attention, fixed"),
        ]
    )
    sizes, name = (config.n_layers, config.n_kv_heads, config.d_head), f"{KV_CACHE}.cache_bytes"
    inspector.formula(name)
    for n_tokens, n_bytes in zip((n_target, n_source), measured, strict=True):
        numbers = cache_with_numbers(*sizes, n_tokens, n_bytes_of_one, n_bytes)
        inspector.formula(name, numbers)
    expected = tuple(cache_bytes(*sizes, n, n_bytes_of_one) for n in (n_target, n_source))
    inspector.check(
        expected == measured,
        f"measured {measured[0]:,} and {measured[1]:,} bytes; by the sizes in the config "
        f"{expected[0]:,} and {expected[1]:,}.",
    )
