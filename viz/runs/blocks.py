"""One block of a model on its own, worked out for whoever looks at it."""

from model.analysis.block import Inside, run_inside
from model.device import one_thread
from model.sources.handle import ModelHandle
from viz import runs
from viz.runs.kept import kept


@kept
def inside(handle: ModelHandle, ids: tuple[int, ...], layer: int) -> Inside:
    """What a block of the decoder computes on a text."""
    with one_thread():
        return run_inside(runs.decoder(handle), ids, layer)
