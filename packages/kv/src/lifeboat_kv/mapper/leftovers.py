"""Folders that are being written, told apart from what a killed run left behind."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import time
from pathlib import Path

PREFIX = ".writing-"
# A folder is made and locked in two steps; in between only its writer's process id speaks for it.
_YOUNG_SECONDS = 60.0


def hold(folder: Path) -> int:
    """An open handle whose lock says that somebody is writing in `folder`; the system frees a dead one's."""
    handle = os.open(folder, os.O_RDONLY)
    with contextlib.suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return handle


def remove_leftovers(directory: str | os.PathLike[str]) -> None:
    """Deletes the half-written folders of runs that were killed; those that are being written stay.

    A process id alone would not do: after a restart of a container another process may have it.
    """
    for folder in Path(directory).glob(f"{PREFIX}*"):
        owner = folder.name.removeprefix(PREFIX).split("-")[0]
        with contextlib.suppress(OSError):
            young = time.time() - folder.stat().st_mtime < _YOUNG_SECONDS
            if not _is_held(folder) and not (young and owner.isdigit() and _is_alive(int(owner))):
                shutil.rmtree(folder, ignore_errors=True)


def _is_held(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
