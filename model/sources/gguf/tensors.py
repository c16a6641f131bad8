"""Which tensors of a file in GGUF became weights of a model."""

from importlib import import_module
from pathlib import Path
from typing import Any

from model.sources.gguf.reading import About, read, taken
from model.sources.gguf.shared import FACTORS

UNUSED = ("attn_rot_embd.weight", "attn_rot_embd")  # what llama.cpp does not use either


def lost(file: Path, inner: Any) -> list[str]:  # noqa: ANN401
    """Tensors of a file that became no weight of a model, nor a part of its config."""
    about, own = read(file), set(inner.state_dict())
    with taken(file):
        becomes = _new_names(about, inner) if _is_new(about) else _old_names(about, inner)
    read_too = FACTORS if "rope_parameters" in about.config else ()
    known = (*read_too, *(name for name in about.stored if name.endswith(UNUSED)))
    return [
        name
        for name in about.stored
        if name not in known and becomes.get(name) not in own and not _is_ahead(becomes, name)
    ]


def _is_new(about: About) -> bool:
    """Whether the newer of the library's two readers takes it."""
    plans: Any = import_module("transformers.integrations.gguf")
    return about.said["general.architecture"] in plans.GGUF_CONFIG_ARCHS


def _new_names(about: About, inner: Any) -> dict[str, str]:  # noqa: ANN401
    loading: Any = import_module("transformers.core_model_loading")
    plans: Any = import_module("transformers.integrations.gguf.utils")
    plan = plans.get_gguf_conversion_mapping(about.said["general.architecture"], inner.config)
    renamed = [x for x in plan if isinstance(x, loading.WeightRenaming)]
    others = [x for x in plan if isinstance(x, loading.WeightConverter)]
    return {name: loading.rename_source_key(name, renamed, others)[0] for name in about.stored}


def _old_names(about: About, inner: Any) -> dict[str, str]:  # noqa: ANN401
    reading: Any = import_module("transformers.modeling_gguf_pytorch_utils")
    kind = reading.TENSOR_PROCESSORS.get(
        about.said["general.architecture"], reading.TensorProcessor
    )
    table = reading.get_gguf_hf_weights_map(inner, kind())
    stacked = {name: name.removesuffix(".weight") for name in about.stored if "_exps." in name}
    return {name: table.get(name) or table.get(stacked.get(name, ""), "") for name in about.stored}


def _is_ahead(becomes: dict[str, str], name: str) -> bool:
    """Whether it belongs to a block that predicts tokens after the next, which no class runs."""
    return becomes.get(name, "").startswith("mtp.")
