"""Progress of an evaluation: three models, each with its requests."""

from __future__ import annotations

import time

from ..events import Events
from .outcome import MODELS

_SPACING_SECONDS = 0.2
_STABLE_SECONDS = 2.0


class Progress:
    """Sends "progress" events, thinned to five a second; the percent never falls."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self._stage = "load"
        self._percent = self._told = 0.0
        self._known = 0
        self._began = time.monotonic()
        self._send(0, 1, "models")

    def stage(self, name: str) -> None:
        """Enters the model `name` of MODELS."""
        self._stage, self._began, self._told = name, time.monotonic(), 0.0

    def update(self, done: int, total: int) -> None:
        """`done` of the `total` requests known by now are answered; each model gets the same requests."""
        self._known = total = max(self._known, total)
        now = time.monotonic()
        if done < total and now - self._told < _SPACING_SECONDS:
            return
        self._told = now
        before = MODELS.index(self._stage) / len(MODELS)
        share = done / total if total else 0.0
        self._percent = max(self._percent, 100 * (before + share / len(MODELS)))
        self._send(done, total, "requests")

    def _send(self, done: int, total: int, unit: str) -> None:
        seconds = time.monotonic() - self._began
        self._events.send(
            "progress",
            stage=self._stage,
            done=done,
            total=total,
            percent=round(self._percent, 2),
            rate=round(done / seconds, 2) if seconds >= _STABLE_SECONDS and done else None,
            unit=unit,
        )
