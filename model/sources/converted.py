"""A converted copy of the weights of a file in GGUF, which opens without dequantising.

It lies below the home of Headlight, under a name of the file's place, of its size and time, and of
how its header is read. Where a person removed it, an empty file has its name: none is kept unasked.
"""

import hashlib
import json
import os
import shutil
import struct
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import TypeGuard

from torch import Tensor

from model.files import MEGABYTE, folder_to_write, is_gguf
from model.lines import one_line, spelled
from model.sources.adopted import Adopted
from model.sources.folder import config_in
from model.sources.handle import OpenModel
from model.sources.places import copies

READING = 4  # raised whenever a header is read in another sense, by which weights take their places
MOST = 8_000 * MEGABYTE  # of all copies that nobody asked for


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


def discard(file: Path) -> None:
    """Have no copy of a file any longer."""
    with suppress(OSError):  # the file is gone, and with it the name of its copy
        shutil.rmtree(_place(file), ignore_errors=True)


def remove(file: Path) -> None:
    """The same for good: none is kept again until a person asks for one."""
    discard(file)
    with suppress(OSError):
        _place(file).touch()


def can_keep(loaded: OpenModel) -> TypeGuard[Adopted]:
    """Whether an open model is of a file in GGUF with nothing off: a copy means the same."""
    return isinstance(loaded, Adopted) and is_gguf(loaded.folder) and not loaded.off


def size_of_copy(loaded: Adopted) -> int:
    """How many bytes its weights take."""
    return sum(4 * weight.numel() for weight in loaded.model.inner.parameters())


def is_to_be_kept(loaded: OpenModel) -> TypeGuard[Adopted]:
    """Whether a copy of an open model is kept unasked: there is none, and none was removed.

    It takes at most a tenth of what is free, and `MOST` together with all others, of which the
    oldest make room.
    """
    if not can_keep(loaded) or size_of_copy(loaded) > MOST:
        return False
    with suppress(OSError, ValueError):
        free = shutil.disk_usage(folder_to_write(copies())).free
        return not _place(loaded.folder).exists() and 10 * size_of_copy(loaded) <= free
    return False


def make_room(n_bytes: int) -> None:
    """Discard the oldest copies, until with so many bytes more they are within `MOST`."""
    every = sorted(copies().glob("*/"), key=lambda folder: folder.stat().st_mtime)
    sizes = [sum(x.stat().st_size for x in folder.iterdir()) for folder in every]
    for n, folder in enumerate(every):
        if sum(sizes[n:]) + n_bytes > MOST:
            shutil.rmtree(folder, ignore_errors=True)


def keep(loaded: Adopted) -> None:
    """Write the copy of a model that is open, whole or not at all.

    ValueError where the disk has no room, or it cannot be written.
    """
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
            if left_over.is_dir():
                shutil.rmtree(left_over, ignore_errors=True)
            else:
                left_over.unlink()
        new.mkdir()
        names = {name for name, _ in (*inner.named_parameters(), *inner.named_buffers())}
        state = inner.state_dict()
        _write(new / "model.safetensors", {name: x for name, x in state.items() if name in names})
        (new / "config.json").write_text(json.dumps(config_in(loaded.folder)), encoding="utf-8")
        os.replace(new, folder)
    except OSError as error:
        raise ValueError(f"cannot write {spelled(folder)}: {one_line(str(error))}") from None
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _write(path: Path, weights: dict[str, Tensor]) -> None:
    """Weights as safetensors, one after the other: none is held twice, and no thread waits."""
    header: dict[str, object] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, x in weights.items():
        begin, end = end, end + 4 * x.numel()
        header[name] = {"dtype": "F32", "shape": [*x.shape], "data_offsets": [begin, end]}
    about = json.dumps(header).encode()
    about += b" " * (-len(about) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(about)) + about)
        for x in weights.values():
            file.write(x.float().cpu().contiguous().numpy().data)


def _place(file: Path) -> Path:
    about = file.stat()
    said = os.fsencode(file), f"{about.st_size} {about.st_mtime_ns} {READING}".encode()
    return copies() / "-".join(hashlib.sha256(part).hexdigest()[:12] for part in said)
