"""Opening files that somebody else laid down: regular ones alone, and none outside of its folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO

from ..errors import CorpusError


def open_regular(file: Path, name: str) -> IO[bytes]:
    """The open file; a pipe, a device or a folder is refused without waiting for it.

    `name` is what people know it by. Errors: CorpusError CORPUS_UNREADABLE; OSError.
    """
    handle = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise CorpusError("CORPUS_UNREADABLE", f"{name} is no regular file: put a copy of its texts there")
    return os.fdopen(handle, "rb")


def inside(folder: Path, name: str) -> Path:
    """The file `name` of `folder`. Errors: CorpusError CORPUS_UNREADABLE where a link leads out of it."""
    file = folder / name
    try:
        leads_out = not file.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        leads_out = True
    if leads_out:
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"{folder.name}/{name} is a link out of its folder: put the file itself there",
        )
    return file
