"""Events: one JSON object a line on stdout. Their zod twin is `calibration-event.ts` in contracts."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, TextIO

VERSION = 1
STAGES = ("inspect", "capture", "fit", "select", "score", "judge", "cost", "write")
# Share of a run's time by stage, measured on the bundled pair; only the percent shown depends on it.
_SHARES = dict(zip(STAGES, (1, 25, 2, 1, 55, 5, 10, 1), strict=True))
_CHUNK = 200
_SPACING_SECONDS = 0.2
_STABLE_SECONDS = 2.0


class Events:
    """Writes events. Progress is thinned to five a second and its percent never falls."""

    def __init__(self, out: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._stage = STAGES[0]
        self._began = time.monotonic()
        self._told = 0.0
        self._percent = 0.0

    def send(self, kind: str, **fields: Any) -> None:
        """One event line, flushed. Non-finite numbers are a bug and raise ValueError."""
        event = {
            "v": VERSION,
            "type": kind,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **fields,
        }
        self._out.write(json.dumps(event, allow_nan=False) + "\n")
        self._out.flush()

    def stage(self, name: str) -> None:
        """Enters stage `name` of STAGES."""
        self._stage, self._began, self._told = name, time.monotonic(), 0.0
        self.send("stage", stage=name, index=STAGES.index(name), of=len(STAGES))

    def progress(self, done: float, total: float, unit: str) -> None:
        """`done` of `total` `unit`s of the present stage; rate is null for its first two seconds."""
        now = time.monotonic()
        if done < total and now - self._told < _SPACING_SECONDS:
            return
        self._told = now
        before = sum(_SHARES[s] for s in STAGES[: STAGES.index(self._stage)])
        percent = before + _SHARES[self._stage] * (done / total if total else 1.0)
        self._percent = max(self._percent, min(100.0, percent))
        seconds = now - self._began
        rate = round(done / seconds, 2) if seconds >= _STABLE_SECONDS and done else None
        self.send(
            "progress",
            stage=self._stage,
            done=done,
            total=total,
            percent=round(self._percent, 2),
            rate=rate,
            unit=unit,
        )

    def log(self, level: str, message: str) -> None:
        """A line for people: debug, info, warning or error."""
        self.send("log", level=level, message=message)

    def counts(self, arm: str, sequences: list[dict[str, Any]]) -> None:
        """Per-sequence counts of one arm, at most 200 sequences an event."""
        for at in range(0, len(sequences), _CHUNK):
            self.send("counts", arm=arm, sequences=sequences[at : at + _CHUNK])


class _Teller(logging.Handler):
    def __init__(self, events: Events) -> None:
        super().__init__(logging.INFO)
        self._events = events

    def emit(self, record: logging.LogRecord) -> None:
        self._events.log(record.levelname.lower(), record.getMessage())


@contextmanager
def telling(events: Events, logger: str) -> Iterator[None]:
    """While it lasts, what `logger` says at INFO and above becomes log events too."""
    teller = _Teller(events)
    speaker = logging.getLogger(logger)
    speaker.addHandler(teller)
    try:
        yield
    finally:
        speaker.removeHandler(teller)
