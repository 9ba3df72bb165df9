"""The library's command line: events on stdout, logs on stderr, exit codes as in the design."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Any

from .compare.command import add_parser as add_methods
from .errors import EXIT_FAILED, EXIT_INTERRUPTED, HelmError
from .evaluate.command import add_parser as add_evaluate
from .events import Events
from .host.parent import end_with_parent
from .host.resources import as_resource_error
from .judge.command import add_parser as add_judge
from .measure_commands import add_parsers as add_measures

LOG = logging.getLogger("lifeboat_kv")


class _Interrupted(BaseException):
    """SIGINT or SIGTERM. Not an Exception, so that nothing on the way swallows it."""


def main(argv: list[str] | None = None) -> int:
    """Runs one verb; returns its exit code."""
    arguments = _parser().parse_args(argv)
    level = logging.DEBUG if os.environ.get("LIFEBOAT_KV_DEBUG") else logging.INFO
    logging.basicConfig(stream=sys.stderr, level=level, format="%(levelname)s %(name)s %(message)s")
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    end_with_parent(os.environ.get("LIFEBOAT_PARENT_PID"))
    events = Events()
    try:
        arguments.run(arguments, events)
        return 0
    except HelmError as error:
        return _failed(events, error.code, error.message, error.exit_code)
    except _Interrupted:
        return _failed(
            events, "INTERRUPTED", "stopped by a signal; nothing half-written is left", EXIT_INTERRUPTED
        )
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except Exception as error:
        if short := as_resource_error(error):
            return _failed(events, short.code, short.message, short.exit_code)
        # The last line of defence: typed and one line for the reader, whole for who asks for it.
        LOG.debug("unexpected failure", exc_info=True)
        reason = " ".join(str(error).split())[:300]
        return _failed(events, "UNEXPECTED", f"{type(error).__name__}: {reason}", EXIT_FAILED)


def _interrupt(*_: Any) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise _Interrupted


def _failed(events: Events, code: str, message: str, exit_code: int) -> int:
    LOG.error("%s: %s", code, message)
    try:
        events.send("failed", code=code, message=message, exit_code=exit_code)
    except OSError:
        # Standard output is closed or its disk full: the exit code alone has to say it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return exit_code


def _calibrate(arguments: argparse.Namespace, events: Events) -> None:
    from .host.devices import choose_device
    from .host.resources import check_out_folder

    # Loading torch takes seconds: what can be refused without it is refused before.
    check_out_folder(arguments.out)
    choose_device(arguments.device)
    _threads(arguments.threads)
    from .calibration.calibrate import Options, calibrate

    named = {"fit": arguments.sequences, "seq_len": arguments.seq_len}
    options = Options(
        source_model=arguments.source_model,
        target_model=arguments.target_model,
        corpus=arguments.corpus,
        corpus_column=arguments.corpus_column,
        corpus_store=arguments.corpus_store,
        out=arguments.out,
        k=arguments.k,
        method=arguments.method,
        device=arguments.device,
        seed=arguments.seed,
        long=arguments.long,
        sizes={name: value for name, value in named.items() if value is not None},
    )
    calibrate(options, events)


def _inspect(arguments: argparse.Namespace, events: Events) -> None:
    from .models.facts import inspect_model

    events.send("inspection", facts=inspect_model(arguments.model))


def _doctor(_: argparse.Namespace, events: Events) -> None:
    from importlib.metadata import version

    from .host.devices import ALLOWED, host_devices, host_verdict, torch_problem

    devices = host_devices()
    name = problem = None
    if host_verdict(devices) == ALLOWED:
        # Worth the seconds that importing torch takes only where there is a GPU that it might use.
        import torch

        name = torch.cuda.get_device_name(0) if torch.cuda.is_available() else None
        problem = torch_problem(devices)
    events.send("doctor", devices=devices, torch=version("torch"), torch_device=name, torch_problem=problem)


def _guard(arguments: argparse.Namespace, events: Events) -> None:
    from .host.device_use import device_use

    events.send("guard", device=device_use(arguments.device, arguments.pid))


def _decode(arguments: argparse.Namespace, events: Events) -> None:
    _threads(arguments.threads)
    from .measure.decode import decode_file

    decode_file(
        arguments.source_model,
        arguments.target_model,
        None if arguments.native else arguments.mapper,
        arguments.tokens,
        arguments.max_tokens,
        events,
    )


def _threads(count: int | None) -> None:
    # Threads that spin at every barrier stop each other where the cores are shared with other programs.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    if count:
        import torch

        torch.set_num_threads(count)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="lifeboat_kv", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="verb")

    one = verbs.add_parser("calibrate", help="fit and score a mapper for a pair")
    one.add_argument("--source-model", type=Path, required=True)
    one.add_argument("--target-model", type=Path, required=True)
    one.add_argument(
        "--corpus",
        default="bundled",
        help="bundled, a .txt, .jsonl, .jsonl.gz or .parquet file, a folder of them or with a manifest.json, "
        "fineweb-edu, or hub:owner/name[/config][@revision]",
    )
    one.add_argument("--corpus-column", help="the text's column, default text, else messages")
    one.add_argument("--corpus-store", type=Path, help="folder for downloads and the register of digests")
    one.add_argument("--k", type=int, default=4, help="source layers for each target layer")
    one.add_argument("--method", default="default", help="a way to fit, or default: what measures best")
    one.add_argument("--device", default="auto", help="auto, cuda, rocm or cpu")
    one.add_argument("--out", type=Path, default=Path(".helm/artifacts"))
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--sequences", type=int, help="sequences of the fit split")
    one.add_argument("--seq-len", type=int)
    one.add_argument("--long", action="store_true", help="also score at 32 times the fitted length")
    one.add_argument("--threads", type=int)
    one.set_defaults(run=_calibrate)

    one = verbs.add_parser("inspect", help="print a model folder's facts")
    one.add_argument("model", type=Path)
    one.set_defaults(run=_inspect)

    one = verbs.add_parser("doctor", help="print this host's accelerators")
    one.set_defaults(run=_doctor)

    one = verbs.add_parser("guard", help="print what is free on a device, and who computes there")
    one.add_argument("--device", required=True, help="cpu, cuda[:N], rocm[:N] or a GPU's UUID")
    one.add_argument(
        "--pid",
        type=int,
        action="append",
        default=[],
        help="an engine whose main memory is told beside a CPU",
    )
    one.set_defaults(run=_guard)

    one = verbs.add_parser("decode", help="greedy decode from a transferred cache, one prompt at a time")
    one.add_argument("--source-model", type=Path)
    one.add_argument("--target-model", type=Path, required=True)
    one.add_argument("--mapper", type=Path)
    one.add_argument("--native", action="store_true", help="the target alone, no transfer")
    one.add_argument("--tokens", type=Path, required=True, help="jsonl of {id, tokens} or of plain lists")
    one.add_argument("--max-tokens", type=int, default=64)
    one.add_argument("--threads", type=int)
    one.set_defaults(run=_decode)
    add_evaluate(verbs)
    add_judge(verbs)
    add_measures(verbs)
    add_methods(verbs)
    return parser


if __name__ == "__main__":
    sys.exit(main())
