"""A converted copy of a file in GGUF, where a person wanted one: it opens without dequantising.

It lies below the home of Headlight, under a name of the file's place, of its size and time, and of
how its header is read.
"""

import hashlib
import json
import os
import shutil
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeGuard

from safetensors import SafetensorError
from safetensors.torch import save_file

from model.files import MEGABYTE, folder_to_write, is_gguf
from model.lines import one_line, spelled
from model.sources.adopted import Adopted
from model.sources.folder import config_in
from model.sources.handle import OpenModel
from model.sources.places import copies

# Raised whenever a header or a tokenizer is read in another sense, since a copy holds both.
READING = 3


def kept(file: Path) -> Path | None:
    """The folder of the copy of a file as it is now; None where none was kept."""
    with suppress(OSError):  # a home that cannot be looked into has no copy
        if is_gguf(file) and (folder := _place(file)).is_dir():
            return folder
    return None


def kept_since(file: Path) -> date | None:
    """The day on which the copy was made."""
    folder = kept(file)
    return None if folder is None else date.fromtimestamp(folder.stat().st_mtime)


def remove(file: Path) -> None:
    """Have no copy of a file any longer."""
    with suppress(OSError):  # the file is gone, and with it the name of its copy
        shutil.rmtree(_place(file), ignore_errors=True)


def can_keep(loaded: OpenModel) -> TypeGuard[Adopted]:
    """Whether an open model is of a file in GGUF with nothing off: a copy means the same."""
    return isinstance(loaded, Adopted) and is_gguf(loaded.folder) and not loaded.off


def size_of_copy(loaded: Adopted) -> int:
    """How many bytes its weights take."""
    return sum(4 * weight.numel() for weight in loaded.model.inner.parameters())


def keep(loaded: Adopted) -> None:
    """Write the copy of a model that is open, whole or not at all.

    ValueError where the disk has no room, or it cannot be written.
    """
    from model.sources.gguf import reading  # here, since not everybody has what it reads with

    if not is_gguf(loaded.folder):
        raise ValueError(f"{loaded.name} is no file in GGUF; no copy is kept of it")
    if loaded.off:
        raise ValueError(
            f"no copy is kept of {loaded.name}, which would not tell what is off: {loaded.off[0]}"
        )
    if kept(loaded.folder):
        return
    folder, needed = _place(loaded.folder), size_of_copy(loaded) + 100 * MEGABYTE
    new, inner = folder.with_name(f"{folder.name}.{os.getpid()}.new"), loaded.model.inner
    try:
        free = shutil.disk_usage(folder_to_write(folder.parent)).free
        if free < needed:
            raise ValueError(
                f"a copy needs {needed / MEGABYTE:,.0f} MB in {spelled(folder.parent)}, and "
                f"{free / MEGABYTE:,.0f} MB are free; make room, or go on without one"
            )
        of_file = folder.name.partition("-")[0]
        for left_over in folder.parent.glob(f"{of_file}-*"):  # of the file as it was, or half done
            shutil.rmtree(left_over, ignore_errors=True)
        new.mkdir()
        names = {name for name, _ in (*inner.named_parameters(), *inner.named_buffers())}
        state = {name: x.cpu().contiguous() for name, x in inner.state_dict().items()}
        own = {name: x for name, x in state.items() if name in names}
        save_file(own, new / "model.safetensors", {"format": "pt"})
        (new / "config.json").write_text(json.dumps(config_in(loaded.folder)), encoding="utf-8")
        reading.tokenizer_of(loaded.folder).save_pretrained(new)
        os.replace(new, folder)
    except (OSError, SafetensorError) as error:
        raise ValueError(f"cannot write {spelled(folder)}: {one_line(str(error))}") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _place(file: Path) -> Path:
    about = file.stat()
    said = os.fsencode(file), f"{about.st_size} {about.st_mtime_ns} {READING}".encode()
    return copies() / "-".join(hashlib.sha256(part).hexdigest()[:12] for part in said)
