"""Stages capture and fit of a run: rows gathered pass by pass, maps solved as soon as theirs are there."""

from __future__ import annotations

from collections.abc import Sequence

from ..corpora import Sequence as Text
from ..fit.several_methods import Fits, fit_methods
from ..methods import Method
from ..moments.accumulate import Gathered, Wanted, accumulate
from .opening import Run

# So many rows of the fit split suffice; of a longer one every second to fourth token is taken.
_ROWS_WANTED = 64_000
_LARGEST_STRIDE = 4


def fit_run(run: Run, methods: Sequence[Method], own: Method | None) -> Fits:
    """Fits `methods` side by side, and the self-map by `own`; sends the stages capture and fit.

    Errors: NumericsError.
    """
    events, options = run.events, run.options
    splits = {name: run.corpus.splits[name] for name in ("fit", "select")}
    tokens = {name: sum(len(s.tokens) for s in rows) for name, rows in splits.items()}
    total = sum(tokens.values()) * len(run.passes)
    stride = max(1, min(_LARGEST_STRIDE, tokens["fit"] // _ROWS_WANTED))
    before, fitting = 0, False
    events.stage("capture")

    def exact(text: Text) -> int:
        return run.head.match(text.tokens) if run.head is not None else 0

    def gather(split: str, wanted: Wanted) -> Gathered:
        nonlocal before
        found = accumulate(
            splits[split],
            run.source,
            run.target,
            run.widths,
            wanted,
            exact=exact,
            stride=stride,
            seed=options.seed,
            batch_tokens=run.batch_tokens,
            device=run.device,
            progress=lambda done: events.progress(before + done, total, "tokens"),
        )
        before += tokens[split]
        return found

    def told(done: int, of: int, last: bool) -> None:
        nonlocal fitting
        if not last:
            return
        if not fitting:
            events.stage("fit")
            fitting = True
        events.progress(done, of, "maps")

    return fit_methods(gather, run.passes, methods, own, run.shape, options.k, told)
