"""Files from anyone, read so that none hangs the program or fills its memory; files written whole.

A name may lead to a pipe, a device or a folder, and a file may be of any size: what a file is, and
how large, is known before it is read. Every fault is a ValueError of one line with its remedy.
"""

import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from safetensors import SafetensorError

from model.lines import quoted, spelled

MEGABYTE = 1_000_000
LARGEST_CONFIG = MEGABYTE
LARGEST_TOKENIZER = 64 * MEGABYTE
LARGEST_HEADER = 16 * MEGABYTE
COPY_AGAIN = "copy the whole checkpoint folder"
METADATA = "__metadata__"  # beside the names of tensors in the header of a safetensors file
GGUF = b"GGUF"  # what a file of llama.cpp begins with

# Opening a pipe would wait for somebody to write to it; Windows has none, but kinds of line ends.
_READING = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True)
class StoredTensor:
    """What the header of a weights file says of one tensor, before anything of it is read."""

    dtype: str
    shape: tuple[int, ...]
    n_bytes: int = field(default=0, compare=False)


@contextmanager
def opened(path: Path, largest: int | None = None) -> Iterator[BinaryIO]:
    """A regular file of at most `largest` bytes, open for reading."""
    try:
        descriptor = os.open(path, _READING)
    except FileNotFoundError:
        raise ValueError(f"{spelled(path)} is missing; {COPY_AGAIN}") from None
    except PermissionError:
        raise ValueError(
            f"{spelled(path)} may not be read by this user; change its permissions"
        ) from None
    except (OSError, ValueError) as error:
        raise ValueError(f"{spelled(path)} cannot be opened: {error}; {COPY_AGAIN}") from None
    try:
        _refuse_strange(path, os.fstat(descriptor), largest)
    except ValueError:
        os.close(descriptor)
        raise
    with os.fdopen(descriptor, "rb") as file:
        yield file


def _refuse_strange(path: Path, status: os.stat_result, largest: int | None) -> None:
    """ValueError for what is no regular file, or too large a one."""
    if not stat.S_ISREG(status.st_mode):
        raise ValueError(f"{spelled(path)} is {_kind(status.st_mode)}, not a file; {COPY_AGAIN}")
    if largest is not None and status.st_size > largest:
        raise ValueError(
            f"{spelled(path)} has {status.st_size:,} bytes; at most {largest:,} are read of such a "
            "file"
        )


def is_gguf(place: Path) -> bool:
    """Whether there is a file in GGUF, by its name or, as Ollama has them, by how it begins."""
    try:
        if not place.is_file() or place.suffix == ".gguf":
            return place.is_file()
        with opened(place) as file:
            return file.read(len(GGUF)) == GGUF
    except (OSError, ValueError):  # a name that no file can have; one that may not be read
        return False


def folder_at(place: str) -> Path | None:
    """The folder, or file in GGUF, that a person names, ~ for their own; None where none is."""
    try:
        folder = Path(os.path.abspath(Path(place).expanduser()))  # a link keeps its own name
        return folder if folder.is_dir() or is_gguf(folder) else None
    except (OSError, RuntimeError, ValueError):  # ~ of nobody; a loop; a name that no file can have
        return None


def folder_in(variable: str) -> Path | None:
    """The folder that an environment variable names, if it is set; ValueError when it is none."""
    place = os.environ.get(variable)
    if not place:
        return None
    folder = folder_at(place)
    if folder is None:
        raise ValueError(f"{variable} is {quoted(place)!r}, which is not a folder; unset it")
    return folder


def names_of(paths: Sequence[Path], *, by_stem: bool = False) -> list[str]:
    """What files are called: by their names, with the folders above where two are alike.

    by_stem: without their suffix, where that tells them apart. ValueError where one comes twice.
    """
    whole = [path.absolute() for path in paths]
    if twice := [path for path in whole if whole.count(path) > 1]:
        raise ValueError(f"{spelled(twice[0])} is given twice; give each file once")
    stems = [path.stem for path in paths]
    if by_stem and len({*stems}) == len(stems):
        return stems

    def name(own: Path) -> str:
        tails = ["/".join(own.parts[-n:]) for n in range(1, len(own.parts) + 1)]
        others = [path.as_posix() for path in whole if path != own]
        return next((x for x in tails if not any(y.endswith(f"/{x}") for y in others)), str(own))

    return [name(path) for path in whole]


def read_text(path: Path, largest: int) -> str:
    """The text of a UTF-8 file of at most `largest` bytes, without a byte-order mark."""
    with opened(path, largest) as file:
        content = _read(file, path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{spelled(path)} is not UTF-8 at byte {error.start}; copy it again"
        ) from None


def read_json(path: Path, largest: int) -> dict[str, Any]:
    """The object in a JSON file of at most `largest` bytes."""
    text = read_text(path, largest)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{spelled(path)} is not valid JSON: {error}; copy it again") from None
    if not isinstance(content, dict):
        raise ValueError(f"{spelled(path)} is not a JSON object; copy it again")
    return content


def read_header(path: Path) -> dict[str, StoredTensor]:
    """What a safetensors file holds, by name, from its header alone."""
    header = _header(path)
    try:
        return {
            name: StoredTensor(
                str(entry["dtype"]),
                tuple(map(int, entry["shape"])),
                _length(*entry["data_offsets"]),
            )
            for name, entry in header.items()
            if name != METADATA
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        raise _no_header(path) from None


def read_metadata(path: Path) -> dict[str, str]:
    """What a safetensors file says of itself, by one opening.

    The library opens a file twice, and takes one that was replaced in between for a broken one.
    """
    header = _header(path)
    try:
        return {name: str(value) for name, value in header.get(METADATA, {}).items()}
    except AttributeError:
        raise _no_header(path) from None


def _header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file, read as JSON.

    The file is eight bytes with the length of the header, the header, and the numbers.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        length = int.from_bytes(file.read(8), "little")
        if not 2 <= length <= min(size - 8, LARGEST_HEADER):
            raise ValueError(
                f"{spelled(path)} cannot be read: its header would have {length:,} bytes, of "
                f"{size:,} in all and {LARGEST_HEADER:,} at most; it may be cut, copy it again"
            )
        content = _read(file, path, length)
    try:
        header = json.loads(content)
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict):
        raise _no_header(path)
    return header


def _no_header(path: Path) -> ValueError:
    return ValueError(
        f"{spelled(path)} cannot be read: its header is not that of a safetensors file; copy it "
        "again"
    )


def _length(start: int, end: int) -> int:
    return end - start


def folder_to_write(folder: Path) -> Path:
    """The folder itself, made where there is none; ValueError where that cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"cannot write {spelled(folder)}: {_reason(error)}; {_remedy(error)}"
        ) from None
    return folder


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """`with replacing(path) as new:` write to `new`; on success it takes the place of `path`.

    ValueError when the disk is full or read-only; `path` is then as it was.
    """
    new = path.parent / f"{path.name}.{os.getpid()}.new"
    try:
        yield new
        _flush(new)
        os.replace(new, path)
    except (OSError, SafetensorError) as error:
        raise ValueError(
            f"cannot write {spelled(path)}: {_reason(error)}; {_remedy(error)}"
        ) from None
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


def append(path: Path, content: bytes) -> None:
    """Write at the end of a file; ValueError when the disk is full or read-only."""
    try:
        with path.open("ab") as file:
            file.write(content)
    except OSError as error:
        raise ValueError(
            f"cannot write {spelled(path)}: {_reason(error)}; {_remedy(error)}"
        ) from None


def _flush(path: Path) -> None:
    """Have the disk hold the content before the name, so that a power cut leaves no empty file."""
    descriptor = os.open(path, os.O_RDWR)  # Windows flushes no file that is open for reading
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(file: BinaryIO, path: Path, n_bytes: int = -1) -> bytes:
    try:
        return file.read(n_bytes)
    except OSError as error:
        raise ValueError(f"{spelled(path)} cannot be read: {error}; {COPY_AGAIN}") from None


def _reason(error: Exception) -> str:
    """What the system says, without its number and the name of the file."""
    return getattr(error, "strerror", None) or str(error)


def _remedy(error: Exception) -> str:
    is_full = getattr(error, "errno", None) in (errno.ENOSPC, errno.EDQUOT)
    is_full = is_full or "No space left" in str(error)  # as safetensors says it
    return "free some space there" if is_full else "choose another place"


def _kind(mode: int) -> str:
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    return kinds.get(stat.S_IFMT(mode), "a device")
