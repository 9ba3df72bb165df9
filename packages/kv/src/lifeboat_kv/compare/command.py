"""The verb `methods`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from ..events import Events


def add_parser(verbs: Any) -> None:
    """Adds the verb to the command line's subparsers."""
    one = verbs.add_parser("methods", help="fit every method on a pair and compare them on the select split")
    one.add_argument("--source-model", type=Path, required=True)
    one.add_argument("--target-model", type=Path, required=True)
    one.add_argument("--corpus", default="bundled")
    one.add_argument("--k", type=int, default=4)
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--sequences", type=int, help="sequences of the fit split")
    one.add_argument("--page", type=Path, required=True, help="the Markdown file to write")
    one.set_defaults(run=_methods)


def _methods(arguments: argparse.Namespace, events: Events) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from ..calibration.opening import Options
    from .measure import compare_methods
    from .report import methods_page

    options = Options(
        source_model=arguments.source_model,
        target_model=arguments.target_model,
        corpus=arguments.corpus,
        out=arguments.page.parent,
        k=arguments.k,
        device=arguments.device,
        seed=arguments.seed,
        sizes={"fit": arguments.sequences} if arguments.sequences else {},
    )
    page = methods_page(compare_methods(options, events))
    arguments.page.parent.mkdir(parents=True, exist_ok=True)
    part = arguments.page.with_suffix(f".{os.getpid()}.part")
    part.write_text(page, encoding="utf-8")
    os.replace(part, arguments.page)
    events.log("info", f"{arguments.page} is written")
