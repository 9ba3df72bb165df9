"""Opening files that somebody else laid down: regular ones alone, and none outside of its folder."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from ..errors import CorpusError
from ..host import regular_file


def open_regular(file: Path, name: str) -> BinaryIO:
    """The open file; a pipe, a device or a folder is refused without waiting for it.

    `name` is what people know it by. Errors: CorpusError CORPUS_UNREADABLE; OSError.
    """
    try:
        return regular_file.open_regular(file)
    except regular_file.NotRegular as error:
        raise CorpusError(
            "CORPUS_UNREADABLE", f"{name} is no regular file: put a copy of its texts there"
        ) from error


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
