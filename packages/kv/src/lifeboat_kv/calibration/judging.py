"""The run's probes once more, for the judge: both models answer them, and the pilot says how sure it was."""

from __future__ import annotations

from ..judge.command import send_rows
from ..judge.probes import probe_rows
from ..models.load import load_tokenizer
from .opening import Run


def judge_run(run: Run) -> None:
    """Sends the labelled answers of the gate's and the report's probes."""
    run.events.stage("judge")
    tokenizer = load_tokenizer(run.options.target_model)
    splits = run.corpus.splits
    sequences = [*splits["gate"], *splits["report"]]
    rows = probe_rows(
        sequences,
        run.corpus.sizes.seq_len,
        run.source,
        run.target,
        run.ends,
        lambda token: str(tokenizer.decode([token])),
        group_tokens=2 * run.options.batch_tokens,
        device=run.device,
        progress=lambda done: run.events.progress(done, len(sequences), "sequences"),
    )
    send_rows(run.events, rows)
