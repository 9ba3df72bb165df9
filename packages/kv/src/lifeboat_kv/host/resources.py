"""Want of memory and disk: told apart from other failures, and looked for before anything is computed."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from ..errors import ResourceError, UsageError

_NO_MEMORY = (
    "can't allocate memory",
    "cannot allocate memory",
    "not enough memory",
    "out of memory",
    "std::bad_alloc",
    "alloc_failed",
    "failed to map segment",
    "can't start new thread",
    "(os error 12)",
)
_NO_SPACE = ("no space left on device", "disk quota exceeded", "file too large", "(os error 28)")
_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_CLOSED = (errno.EACCES, errno.EPERM, errno.EROFS)
_TOLD_IN_WORDS = (RuntimeError, ImportError, ValueError, SystemError)


def as_resource_error(error: BaseException) -> ResourceError | None:
    """The same failure as want of memory or disk, where it is one; None where it is something else.

    Libraries say it in many ways: torch's allocators in a RuntimeError's text, mapped files in an
    OSError's or their own kind's, the loader of shared libraries in an ImportError's.
    """
    if isinstance(error, ResourceError):
        return error
    number = getattr(error, "errno", None)
    text = str(error).lower()
    speaks = isinstance(error, (*_TOLD_IN_WORDS, OSError)) or type(error).__name__ == "SafetensorError"
    if number in _DISK or (speaks and any(words in text for words in _NO_SPACE)):
        return ResourceError("DISK_FULL", "the disk is full: free some of it, or give another --out")
    if (
        isinstance(error, MemoryError)
        or number == errno.ENOMEM
        or (speaks and any(words in text for words in _NO_MEMORY))
    ):
        where = "the GPU's" if "cuda" in text or "hip " in text else "this host's"
        return ResourceError(
            "MEMORY_SHORT",
            f"{where} memory did not suffice: free some, use fewer or shorter sequences, or another host",
        )
    return None


def check_out_folder(folder: str | os.PathLike[str]) -> None:
    """Makes `folder` where it is missing and writes a trial file, so that no run ends at its last step.

    Errors: UsageError OUT_NO_FOLDER where it or what it should lie in is a file; ResourceError
    OUT_UNWRITABLE, DISK_FULL.
    """
    path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(prefix=".trial-", dir=path) as trial:
            trial.write(b"\0" * 4096)
            trial.flush()
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError("OUT_NO_FOLDER", f"--out {path} is no folder: name one, or leave it out") from error
    except OSError as error:
        raise write_error(path, error) from error


def write_error(folder: Path, error: Exception) -> ResourceError:
    """What kept something from being written into `folder`, with the next step."""
    found = as_resource_error(error)
    if found is not None:
        return ResourceError(found.code, f"nothing could be written to {folder}: {found.message}")
    if getattr(error, "errno", None) in _CLOSED:
        return ResourceError(
            "OUT_UNWRITABLE", f"{folder} cannot be written to: change its permissions, or give another --out"
        )
    return ResourceError("OUT_UNWRITABLE", f"nothing could be written to {folder}: {error}")
