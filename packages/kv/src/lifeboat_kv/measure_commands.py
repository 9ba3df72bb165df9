"""The verbs `drift`, `cost` and `long`, which measure a mapper that is already there, and `fit-memory`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

from .errors import UsageError
from .events import Events


def add_parsers(verbs: Any) -> None:
    """Adds the verbs to the command line's subparsers."""
    one = verbs.add_parser("drift", help="two models answer by turns on one conversation's carried cache")
    _pair(one)
    one.add_argument("--reverse-mapper", type=Path, required=True, help="from the target to the source")
    one.add_argument("--chats", type=Path, help=".jsonl of chats; default: the bundled corpus's probes")
    one.add_argument("--turns", type=int, default=10)
    one.add_argument("--conversations", type=int, default=64, help="at most so many")
    one.set_defaults(run=_drift)

    one = verbs.add_parser("cost", help="time prefill, transfer and the whole paths for a mapper")
    _pair(one)
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--seconds-a-point", type=float, help="default 10 on a CPU, 60 on a GPU")
    one.set_defaults(run=_cost)

    one = verbs.add_parser("long", help="score a mapper beyond the length it was fitted on")
    _pair(one)
    one.add_argument("--corpus", default="bundled", help="as for calibrate")
    one.add_argument("--corpus-column")
    one.add_argument("--corpus-store", type=Path)
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--multiple", type=int, choices=(4, 32), required=True)
    one.set_defaults(run=_long)

    one = verbs.add_parser("fit-memory", help="fit, keep nothing, and say what memory it took")
    _models(one)
    one.add_argument("--corpus", default="bundled", help="as for calibrate")
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--sequences", type=int, required=True, help="sequences of the fit split")
    one.set_defaults(run=_fit_memory)


def _models(one: argparse.ArgumentParser) -> None:
    one.add_argument("--source-model", type=Path, required=True)
    one.add_argument("--target-model", type=Path, required=True)


def _pair(one: argparse.ArgumentParser) -> None:
    _models(one)
    one.add_argument("--mapper", type=Path, required=True, help="a mapper's folder or file")


def _drift(arguments: argparse.Namespace, events: Events) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    for name in ("turns", "conversations"):
        if getattr(arguments, name) < 1:
            raise UsageError("OPTION_RANGE", f"--{name} {getattr(arguments, name)} is below 1")
    from .measure.drift import bundled_chats, drift_files

    drift_files(
        arguments.source_model,
        arguments.target_model,
        arguments.mapper,
        arguments.reverse_mapper,
        arguments.chats or bundled_chats(),
        events,
        turns=arguments.turns,
        most=arguments.conversations,
    )


def _cost(arguments: argparse.Namespace, events: Events) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from .measure.cost import cost_files

    cost_files(
        arguments.source_model,
        arguments.target_model,
        arguments.mapper,
        arguments.device,
        events,
        seconds_a_point=arguments.seconds_a_point,
    )


def _long(arguments: argparse.Namespace, events: Events) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from .calibration.long_run import long_files

    long_files(
        arguments.source_model,
        arguments.target_model,
        arguments.mapper,
        arguments.corpus,
        arguments.multiple,
        arguments.device,
        events,
        column=arguments.corpus_column,
        store=arguments.corpus_store,
    )


def _fit_memory(arguments: argparse.Namespace, events: Events) -> None:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if arguments.sequences < 1:
        raise UsageError("OPTION_RANGE", f"--sequences {arguments.sequences} is below 1")
    from .calibration.fit_memory import fit_memory

    fit_memory(
        arguments.source_model,
        arguments.target_model,
        arguments.corpus,
        arguments.device,
        arguments.sequences,
        events,
    )
