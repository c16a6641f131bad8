"""What torch counts while a model runs, beside what is worked out from its sizes."""

import streamlit as st
import torch
from torch.utils.flop_counter import FlopCounterMode

from model.sources.handle import ModelHandle
from model.tap import Recorder, attach
from viz import runs


@st.cache_data(max_entries=16, show_spinner=False)
def operations(handle: ModelHandle, n_tokens: int) -> int:
    """Operations of one forward pass over `n_tokens`, as torch counts them.

    Attention takes the explicit path: torch counts none of the fused one on a CPU.
    """
    model = runs.decoder(handle)
    ids = torch.zeros(1, n_tokens, dtype=torch.long, device=model.device)
    with torch.inference_mode(), FlopCounterMode(display=False) as counter:
        model(ids, tap=attach(Recorder(["pattern"])))
    return counter.get_total_flops()


@st.cache_data(max_entries=16, show_spinner=False)
def weights(handle: ModelHandle) -> tuple[int, int]:
    """How many numbers a model's file has, and the bytes they take there."""
    arrays = runs.checkpoint(handle).files.weights
    found = [arrays[name] for name in arrays]
    return sum(x.size for x in found), sum(x.nbytes for x in found)
