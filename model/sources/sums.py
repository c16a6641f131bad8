"""SHA-256 of a checkpoint's files, as `sha256sum -c` reads them: no bit changes unseen."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from model.files import COPY_AGAIN, MEGABYTE, opened, read_text, replacing
from model.lines import quoted, spelled

SUMS = "SHA256SUMS"
LARGEST = 100_000  # bytes
LINE = re.compile(r"([0-9a-f]{64})[ ][ *]([^/\\]+)")
TO_ACCEPT = f"or delete {SUMS} if you changed it yourself"


def write_sums(folder: Path, names: Iterable[str]) -> None:
    """Note what these files of a folder are now."""
    lines = [f"{sum_of(folder / name)}  {name}\n" for name in names]
    with replacing(folder / SUMS) as path:
        path.write_text("".join(lines), encoding="ascii")


def refuse_changed(folder: Path) -> None:
    """ValueError naming the first file that is not the one noted; a folder without notes passes."""
    if not (folder / SUMS).exists():
        return
    for name, noted in _noted(folder / SUMS).items():
        if sum_of(folder / name) != noted:
            raise ValueError(
                f"{spelled(folder / name)} is not the file that {SUMS} names: a bit of it has "
                f"changed; {COPY_AGAIN}, {TO_ACCEPT}"
            )


def _noted(path: Path) -> Mapping[str, str]:
    noted = {}
    for number, line in enumerate(read_text(path, LARGEST).splitlines(), start=1):
        match = LINE.fullmatch(line)
        if match is None:
            raise ValueError(
                f"{spelled(path)} line {number}: {quoted(line)!r} is no checksum of a file; "
                f"{COPY_AGAIN}, {TO_ACCEPT}"
            )
        noted[match[2]] = match[1]
    return noted


def sum_of_weights(folder: Path) -> str:
    """The SHA-256 of a model's weights; of several files that of the sums of all."""
    files = sorted(folder.glob("model*.safetensors")) if folder.is_dir() else [folder]
    sums = [sum_of(path) for path in files]
    return sums[0] if len(sums) == 1 else hashlib.sha256("".join(sums).encode()).hexdigest()


def sum_of(path: Path) -> str:
    """The SHA-256 of a file, in hexadecimal."""
    with opened(path) as file:
        digest = hashlib.sha256()
        while part := file.read(MEGABYTE):
            digest.update(part)
    return digest.hexdigest()
