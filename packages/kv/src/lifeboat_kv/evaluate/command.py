"""The verb `evaluate` of the library's command line."""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path
from typing import Any

from ..errors import UsageError
from ..events import Events


def add_parser(verbs: Any) -> None:
    one = verbs.add_parser("evaluate", help="tasks of lm-evaluation-harness on a transferred cache")
    one.add_argument("--install", action="store_true", help="install the harness, and nothing else")
    one.add_argument("--source-model", type=Path)
    one.add_argument("--target-model", type=Path)
    one.add_argument("--mapper", type=Path, help="a mapper's folder or file")
    one.add_argument("--tasks", default="helm_bundled", help="names with commas between them")
    one.add_argument("--data", type=Path, help="folder with the benchmarks' documents")
    one.add_argument("--limit", type=int, help="documents of each task at most")
    one.add_argument("--num-fewshot", type=int, help="worked examples, where a task leaves it open")
    one.add_argument("--max-length", type=int, help="context in tokens; default: the models' own")
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--threads", type=int)
    one.add_argument("--page", type=Path, help="write a page of docs/results too")
    one.add_argument("--page-command", default="lifeboat helm evaluate", help="what the page says made it")
    one.set_defaults(run=_run)


def _run(arguments: argparse.Namespace, events: Events) -> None:
    from .benchmarks import benchmark_of, unknown_task
    from .bundled import GROUP
    from .hub import close_hub, open_hub
    from .install import install, require_installed

    if arguments.install:
        install(events)
        return
    for name in ("source_model", "target_model", "mapper"):
        if getattr(arguments, name) is None:
            raise UsageError("OPTION_MISSING", f"--{name.replace('_', '-')} is missing")
    for name, least in (("limit", 1), ("num_fewshot", 0), ("max_length", 16)):
        given = getattr(arguments, name)
        if given is not None and given < least:
            raise UsageError("OPTION_RANGE", f"--{name.replace('_', '-')} {given} is below {least}")
    if arguments.data is not None and not arguments.data.is_dir():
        raise UsageError("DATA_MISSING", f"--data {arguments.data} is no folder")
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if arguments.threads:
        import torch

        torch.set_num_threads(arguments.threads)
    tasks = tuple(name.strip() for name in arguments.tasks.split(",") if name.strip())
    require_installed()
    if unknown := [name for name in tasks if name != GROUP and benchmark_of(name) is None]:
        raise unknown_task(unknown[0])
    distant = [name for name in tasks if name != GROUP]
    if arguments.data is None and distant:
        open_hub(distant)
    else:
        close_hub()
    from .run import EvaluateOptions, evaluate

    began = time.monotonic()
    result, manifest = evaluate(
        EvaluateOptions(
            arguments.source_model,
            arguments.target_model,
            arguments.mapper,
            tasks,
            arguments.data,
            arguments.limit,
            arguments.num_fewshot,
            arguments.device,
            arguments.max_length,
        ),
        events,
    )
    if arguments.page is not None:
        from ..host.machine import this_machine
        from .page import page
        from .run import BUNDLED_TASKS
        from .seen_tasks import seen_tasks

        seconds = time.monotonic() - began
        seen = seen_tasks(BUNDLED_TASKS) if GROUP in tasks else None
        machine = this_machine(result["device"])
        text = page(result, manifest, machine, seconds, arguments.page_command, seen)
        arguments.page.write_text(text, encoding="utf-8")
