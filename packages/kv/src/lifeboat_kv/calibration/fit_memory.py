"""What a fit takes in memory, whatever the length of its corpus: a process for each length."""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from ..events import Events
from .fitting import fit_run
from .opening import Options, open_run, with_baseline

# ru_maxrss counts KiB on Linux and bytes on macOS.
_UNIT = 1 if sys.platform == "darwin" else 1024


def fit_memory(source: Path, target: Path, corpus: str, device: str, sequences: int, events: Events) -> None:
    """Captures and fits with `sequences` sequences, keeps nothing, and sends one metric event "fit_memory":
    the process's largest resident size before and after, in bytes.

    Errors: HelmError as in a calibration.
    """
    options = Options(source, target, corpus, Path(), device=device, sizes={"fit": sequences})
    run = open_run(options, events)
    before = _peak()
    fit_run(run, with_baseline(run.method), own=run.method)
    events.send(
        "metric",
        name="fit_memory",
        sequences=len(run.corpus.splits["fit"]),
        tokens=sum(len(s.tokens) for s in run.corpus.splits["fit"]),
        before_bytes=before,
        peak_bytes=_peak(),
    )


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT
