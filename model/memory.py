"""The machine's memory, and how the process keeps its own."""

import ctypes
import gc
import math
import os


def physical_memory() -> float:
    """Bytes of memory this machine has; infinite where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return math.inf


def free_memory() -> float:
    """Bytes that programs can still take: what Linux says is available, else all there is."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            said = dict(line.split(":") for line in file)
        return 1024 * float(said["MemAvailable"].split()[0])
    except (OSError, ValueError, KeyError):
        return physical_memory()


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch found no memory, which on a CPU it says in words alone."""
    return any(words in str(error) for words in ("can't allocate memory", "out of memory"))


def keep_freed_memory() -> None:
    """Ask glibc to reuse freed blocks instead of returning them to the kernel.

    A capture of 256 tokens keeps some 40 MB. Getting them back page by page costs more than the
    arithmetic does: 1.6 times the plain forward without this, 1.1 with it. Elsewhere: no effect.
    """
    m_trim_threshold, m_mmap_threshold = -1, -3  # malloc.h
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return  # not glibc
    mallopt(m_trim_threshold, 256 * 2**20)
    mallopt(m_mmap_threshold, 32 * 2**20)


def look_at_new_objects_alone() -> None:
    """Have collections of garbage pass over all there is now, until this is called again.

    Streamlit collects after every run of a page, which takes a quarter of a second with torch
    imported, and a tenth more for the tokenizer and the parts of a model of transformers. These are
    in cycles: what became garbage among what was passed over goes here.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def give_back_freed_memory() -> None:
    """Return freed blocks to the kernel all the same, after work that took far more than usual."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError, TypeError):
        return  # not glibc
