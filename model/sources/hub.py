"""Models of the Hugging Face hub: the copy that this machine has, or one that a person has fetched.

Configs, tokenizers and safetensors alone are fetched: no code, and nothing that is pickled.
"""

import re
from pathlib import Path

from model.lines import one_line, quoted

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,95}(/[\w.-]{1,96})?")
FETCHED = ("*.json", "*.safetensors", "*.txt", "*.model", "*.spm", "*.codes", "*.jinja")


def is_name(named: str) -> bool:
    """Whether this can be the name of a model of the hub, as openai-community/gpt2."""
    return NAME.fullmatch(named) is not None


def copy_of(name: str, *, download: bool = False) -> Path:
    """The folder of a model of the hub. Only with `download` anything is asked of another machine.

    Raises ValueError where there is no copy here, and where none can be had.
    """
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import LocalEntryNotFoundError

    try:
        place = snapshot_download(name, allow_patterns=list(FETCHED), local_files_only=not download)
    except LocalEntryNotFoundError:
        if download:
            raise ValueError(
                f"huggingface.co cannot be reached, and no copy of {quoted(name)!r} is here; look "
                "at the network, or copy the folder from elsewhere and open its path"
            ) from None
        raise ValueError(
            f"there is no model, folder or copy of the hub's {quoted(name)!r} here; to fetch it "
            f"from huggingface.co: headlight open {quoted(name)} --download"
        ) from None
    except Exception as error:  # of a library for a network: a dozen kinds, none of ours
        raise ValueError(f"{quoted(name)!r} cannot be fetched: {one_line(str(error))}") from None
    return Path(place)
