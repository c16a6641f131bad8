"""What parts cost, beside independent runs without them."""

from collections.abc import Sequence

import streamlit as st

from model.sources.handle import ModelHandle
from model.verify.costed import Grid, IndependentCosts
from viz.runs import Run, ablating
from viz.runs.beside import Beside, beside

MOST_READ_BACK = 2048  # tokens of all the runs that a grid takes: some three seconds of work
KINDS = ("attn", "cross_attn", "ffn")  # the columns of sublayers


@st.cache_resource(max_entries=8, show_spinner=False)
def independent_costs(_run: Run, key: str, judged: str, name: str, grid: Grid) -> Beside | None:
    """The costs of a grid's parts under costs.`name`; the key is the run's.

    None where there are no files to run once more, and where it would take too long.
    """
    n_runs = sum(cell is not None for row in grid for cell in row)
    n_tokens = n_runs * sum(len(stream) for stream in _run.trace.streams)
    if _run.independent is None or n_tokens > MOST_READ_BACK:
        return None
    return beside(_run.trace, IndependentCosts(_run.independent, judged, {name: grid}))


def heads(handle: ModelHandle, run: Run) -> Grid:
    """Layers of each kind of attention × heads."""
    found = ablating.sizes(handle, run.trace)
    return tuple(
        tuple((f"{group}.{layer}.{head}",) for head in range(limits[1]))
        for group, limits in found.items()
        if not group.endswith("ffn")
        for layer in range(limits[0])
    )


def sublayers(handle: ModelHandle, run: Run) -> Grid:
    """Layers × kinds of sublayer, of those there are."""
    found = ablating.sizes(handle, run.trace)
    kinds = [kind for kind in KINDS if any(group.endswith(f".{kind}") for group in found)]
    stacks = {group.partition(".")[0]: limits[0] for group, limits in found.items()}
    return tuple(
        tuple(
            (f"{stack}.{kind}.{layer}",) if f"{stack}.{kind}" in found else None for kind in kinds
        )
        for stack, n_layers in stacks.items()
        for layer in range(n_layers)
    )


def positions(group: str, layer: int, n_heads: int, n_queries: int) -> Grid:
    """Heads of one layer × queries."""
    return tuple(
        tuple((f"{group}.{layer}.{head}.{query}",) for query in range(n_queries))
        for head in range(n_heads)
    )


def one_by_one(parts: Sequence[str]) -> Grid:
    """One row: nothing off, then one part more in each column."""
    return (tuple(tuple(parts[:n]) for n in range(len(parts) + 1)),)
