"""A job does not outlive the process that started it."""

from __future__ import annotations

import os
import signal
import threading
import time

_LOOK_SECONDS = 0.5
_GRACE_SECONDS = 5.0


def end_with_parent(parent: str | None, look: float = _LOOK_SECONDS, grace: float = _GRACE_SECONDS) -> None:
    """Watches process `parent`: once it is not this one's parent any more, ends as if asked to, then by force
    and with its whole group where it leads one. Does nothing for None or for what is no number."""
    if parent is None or not parent.isdigit():
        return
    threading.Thread(target=_watch, args=(int(parent), look, grace), name="parent-watch", daemon=True).start()


def _watch(parent: int, look: float, grace: float) -> None:
    while os.getppid() == parent:
        time.sleep(look)
    _signal(signal.SIGTERM)
    # Native code does not hear a signal before it returns; the device must be free before that.
    time.sleep(grace)
    _signal(signal.SIGKILL)


def _signal(number: signal.Signals) -> None:
    if os.getpgrp() == os.getpid():
        os.killpg(0, number)
    else:
        os.kill(os.getpid(), number)
