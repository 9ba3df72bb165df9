"""The engine's command line, parsed once and checked."""

from __future__ import annotations

import argparse
import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import UsageError
from .budgets import GivenBudgets, parse_kv_budgets
from .core import EngineLimits

LIMITS: tuple[tuple[str, str, type], ...] = (
    ("--max-batch", "max_batch", int),
    ("--max-waiting", "max_waiting", int),
    ("--max-step-tokens", "step_tokens", int),
    ("--max-body-bytes", "body", int),
    ("--default-max-tokens", "default_max_tokens", int),
    ("--write-seconds", "write_seconds", float),
    ("--drain-seconds", "drain_seconds", float),
)
DTYPES = ("auto", "float32", "bfloat16")


@dataclass(frozen=True)
class Listen:
    """A Unix socket's path, or a loopback host and port (0 for any free one)."""

    path: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0


@dataclass(frozen=True)
class EngineOptions:
    """What to serve, where and within which limits. `models` are (served name or None, folder)."""

    models: tuple[tuple[str | None, Path], ...]
    listen: Listen
    mapper_dir: Path | None
    device: str
    dtype: str
    threads: int | None
    exit_with_parent: bool
    log_level: str
    limits: EngineLimits
    budgets: GivenBudgets
    # Of the device's memory, to engines beside this one.
    promised: int = 0


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:
        raise UsageError("USAGE", f"{message} (see --help)")


def parse_options(argv: Sequence[str]) -> EngineOptions:
    """Reads the command line. Errors: UsageError."""
    given = _parser().parse_args(argv)
    models = tuple(_model(text) for text in [given.pilot, given.target, *given.model] if text)
    if not models:
        raise UsageError("USAGE", "name at least one model with --pilot, --target or --model")
    limits = EngineLimits(**{name: getattr(given, name) for _, name, _ in LIMITS})
    if any(getattr(limits, name) <= 0 for _, name, _ in LIMITS):
        raise UsageError("USAGE", "limits must be above zero")
    total, by_name = parse_kv_budgets(given.kv_budget)
    return EngineOptions(
        models=models,
        listen=parse_listen(given.listen),
        mapper_dir=given.mapper_dir,
        device=given.device,
        dtype=given.dtype,
        threads=given.threads,
        exit_with_parent=given.exit_with_parent,
        log_level=given.log_level,
        limits=limits,
        budgets=GivenBudgets(
            kv=total,
            kv_of=by_name,
            staging=given.staging_budget,
            mappers=given.mapper_budget,
            mappers_host=given.mapper_host_budget,
        ),
        promised=given.promised,
    )


def parse_listen(text: str) -> Listen:
    """`unix:/path` or a loopback `host:port`; nothing else, as there is no key. Errors: UsageError."""
    if text.startswith("unix:"):
        return Listen(path=Path(text.removeprefix("unix:")))
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise UsageError("USAGE", f"--listen {text!r} is neither unix:/path nor host:port")
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise UsageError("USAGE", f"--listen {host} is not a loopback address; the gateway is the open door")
    return Listen(host=host, port=int(port))


def _model(text: str) -> tuple[str | None, Path]:
    name, found, folder = text.partition("=")
    return (name, Path(folder)) if found and not Path(text).is_dir() else (None, Path(text))


def _budget(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes above zero")
    return int(text)


def _parser() -> argparse.ArgumentParser:
    defaults = EngineLimits()
    parser = _Parser(prog="python -m lifeboat_kv.engine", description="The reference engine.")
    parser.add_argument("--pilot", metavar="[NAME=]DIR")
    parser.add_argument("--target", metavar="[NAME=]DIR")
    parser.add_argument("--model", metavar="[NAME=]DIR", action="append", default=[])
    parser.add_argument("--listen", required=True, metavar="unix:/PATH | HOST:PORT")
    parser.add_argument("--mapper-dir", type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--dtype", choices=DTYPES, default="auto")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--log-level", default="info")
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="drain when the starting process is gone"
    )
    for flag, name, kind in LIMITS:
        parser.add_argument(flag, dest=name, type=kind, default=getattr(defaults, name))
    parser.add_argument(
        "--kv-budget-bytes", metavar="BYTES | NAME=BYTES", action="append", default=[], dest="kv_budget"
    )
    for part in ("staging", "mapper", "mapper-host"):
        parser.add_argument(f"--{part}-budget-bytes", dest=f"{part.replace('-', '_')}_budget", type=_budget)
    parser.add_argument(
        "--promised-bytes",
        dest="promised",
        type=_budget,
        default=0,
        help="free memory of the device that engines beside this one may still come to take",
    )
    return parser
