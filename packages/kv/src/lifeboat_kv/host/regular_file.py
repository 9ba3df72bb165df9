"""Opening only what is a file: a pipe or a device is neither waited for nor read."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO


class NotRegular(OSError):
    """What stands there is no file: a pipe, a device, a folder."""


def descriptor(path: str | os.PathLike[str]) -> int:
    """A descriptor of the regular file at `path`, for reading. Errors: NotRegular; OSError."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotRegular(errno.EINVAL, "it is not a regular file")
    return handle


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """The regular file at `path`, open for reading. Errors: NotRegular; OSError."""
    return os.fdopen(descriptor(path), "rb")


def read_regular(path: str | os.PathLike[str], most: int) -> bytes:
    """The file's bytes, `most` of them at most. Errors: OSError; ValueError where it has more."""
    with open_regular(path) as file:
        found = file.read(most + 1)
    if found is None:
        raise OSError(errno.EAGAIN, "it does not give its bytes at once, as a file does")
    if len(found) > most:
        raise ValueError("it is too large to be what its name says")
    return found


def irregular(folder: Path) -> Path | None:
    """The first entry by name that is neither file nor folder, which a library would wait for; or None."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    return next((one for one in entries if one.exists() and not (one.is_file() or one.is_dir())), None)
