"""An evaluation as a page of docs/results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from ..host.machine import Machine
from .accuracy import LEAST_SOLVED, RESAMPLES
from .seen_tasks import seen_lines

Row = Mapping[str, Any]


def page(
    result: Row,
    manifest: Row,
    machine: Machine,
    seconds: float,
    command: str,
    seen: dict[str, dict[str, int]] | None = None,
) -> str:
    """Markdown of one evaluation; `manifest` is the mapper's, `seconds` the time of the whole run.

    `seen` says how many of the bundled tasks stand in the bundled corpus, where they were asked.
    """
    pair = result["pair"]
    versions = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
    mean = result["mean"]
    lines = [
        f"# Accuracy retention of {pair['source']} -> {pair['target']}",
        "",
        f"Command: `{command}`, {date.today().isoformat()}, {seconds:.0f} s. Machine: {machine}.",
        f"Software: {versions}. Device {result['device']}{_mark(result)}.",
        "",
        f"Mapper `{result['mapper_sha256'][:16]}`: method {manifest.get('method')}, "
        f"k={manifest.get('k')}{_retention(manifest)}.",
        "",
        "Accuracy retention is the accuracy of the target on transferred caches over its accuracy by itself, "
        "on the same documents; in brackets the 95 % interval of a paired bootstrap over documents "
        f"({RESAMPLES:,} resamples). It is left out where the target itself solves fewer than "
        f"{LEAST_SOLVED}. It is not the retention of a calibration, which counts single tokens after a "
        "hand-over: an answer of twenty tokens is wrong as soon as one of them is.",
        "",
        "| task | n | pilot | target | transferred | accuracy retention | transferred - pilot | mapped |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
        *(_row(row) for row in result["tasks"]),
        "",
    ]
    if mean is not None:
        lines += [f"Mean accuracy retention {_interval(mean)}, of {mean['tasks']} task(s).", ""]
    if result["limit"] is not None:
        lines += [f"Only the first {result['limit']} documents of each task.", ""]
    if seen is not None:
        lines += seen_lines(seen)
    lines += _below(result["warnings"])
    lines += [
        "`mapped` is the share of the context tokens that came through the mapper; the others are the exact "
        "tail. Published for other pairs and tasks: 14B -> 32B 97.6 %, 8B -> 32B 87.5 %, Llama 8B -> 70B "
        "72.8 %, Ministral 3B -> 8B 76.2 %, 3B -> 14B 44.2 %; in all six published pairs the transferred "
        "target fell below the pilot on GSM8K and MMLU.",
        "",
    ]
    return "\n".join(lines)


def _row(row: Row) -> str:
    kept, above, share = row["accuracy_retention"], row["above_pilot"], row["mapped_share"]
    cells = [
        f"{row['group']}: {row['task'].removeprefix(row['group'] + '_')}" if row["group"] else row["task"],
        str(row["n"]),
        *(f"{row[model]:.3f}" for model in ("pilot", "target", "transferred")),
        _interval(kept) if kept else row["left_out"],
        _interval(above) if above else "",
        f"{share:.3f}" if share is not None else "",
    ]
    return "| " + " | ".join(cells) + " |"


def _interval(found: Row) -> str:
    return f"{found['value']:.3f} [{found['low']:.3f}, {found['high']:.3f}]"


def _mark(result: Row) -> str:
    return ": a development measurement" if result["development"] else ""


def _retention(manifest: Row) -> str:
    found = manifest.get("scores", {}).get("retention", {}).get("mapper", {}).get("value")
    return f", whose retention on its gate split was {found:.3f}" if isinstance(found, float) else ""


def _below(warnings: list[Row]) -> list[str]:
    if not warnings:
        return []
    return ["Below the pilot alone (ACCURACY_BELOW_PILOT):", "", *(f"- {w['message']}" for w in warnings), ""]
