"""The verb `judge-rows` of the library's command line: labelled answers, for fitting a judge."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..events import Events

CHUNK = 50


def add_parser(verbs: Any) -> None:
    one = verbs.add_parser("judge-rows", help="what pilot and target say to the same prompts, for a judge")
    one.add_argument("--source-model", type=Path, required=True)
    one.add_argument("--target-model", type=Path, required=True)
    one.add_argument("--tasks", type=Path, help="jsonl of verifiable tasks; without it the corpus's probes")
    one.add_argument("--corpus", default="bundled", help="as for calibrate")
    one.add_argument("--corpus-column")
    one.add_argument("--corpus-store", type=Path)
    one.add_argument("--limit", type=int, help="sequences or tasks at most")
    one.add_argument("--timed", action="store_true", help="measure each model's device time, task by task")
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--threads", type=int)
    one.set_defaults(run=_run)


def _run(arguments: argparse.Namespace, events: Events) -> None:
    if arguments.limit is not None and arguments.limit < 1:
        raise UsageError("OPTION_RANGE", f"--limit {arguments.limit} is below 1")
    if arguments.timed and arguments.tasks is None:
        raise UsageError("OPTION_MISSING", "--timed goes with --tasks")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    # Time on a CPU is counted over all threads: one of them works as long as it is shown.
    if arguments.threads or arguments.timed:
        torch.set_num_threads(arguments.threads or 1)
    from .collect import collect

    rows = collect(
        arguments.source_model,
        arguments.target_model,
        arguments.device,
        events,
        tasks=arguments.tasks,
        corpus=arguments.corpus,
        column=arguments.corpus_column,
        store=arguments.corpus_store,
        limit=arguments.limit,
        timed=arguments.timed,
    )
    send_rows(events, rows)


def send_rows(events: Events, rows: list[dict[str, Any]]) -> None:
    """Events "judge_rows" of 50 rows each."""
    for at in range(0, len(rows), CHUNK):
        events.send("judge_rows", rows=rows[at : at + CHUNK])
