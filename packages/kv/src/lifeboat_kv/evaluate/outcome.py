"""From the harness's logged samples of three models to the rows of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import NumericsError
from .accuracy import LEAST_SOLVED, accuracy_retention, difference, mean_retention, perplexity

MODELS = ("pilot", "target", "transferred")
PERPLEXITIES = ("word_perplexity", "byte_perplexity", "perplexity")
BELOW_PILOT = "ACCURACY_BELOW_PILOT"


@dataclass(frozen=True)
class Measured:
    """One task's documents: `values[model]` [n] right answers, or [n, 2] nats and words of a perplexity."""

    task: str
    metric: str
    values: Mapping[str, np.ndarray]
    mapped_share: float | None = None

    @property
    def is_perplexity(self) -> bool:
        return self.metric in PERPLEXITIES

    @property
    def count(self) -> int:
        return len(self.values["target"])


def measured(
    task: str,
    samples: Mapping[str, Sequence[Mapping[str, Any]]],
    metric: str | None,
    filter_name: str | None,
    mapped_share: float | None,
) -> Measured:
    """One task from the three models' samples, which must be of the same documents.

    Without `metric` or `filter_name` the task's first. Errors: NumericsError SAMPLES_DIFFER.
    """
    first = samples["target"][0]
    metric = metric or str(first["metrics"][0])
    filter_name = filter_name or str(first["filter"])
    values, documents = {}, {}
    for model in MODELS:
        kept = [s for s in samples[model] if s["filter"] == filter_name]
        kept.sort(key=lambda s: s["doc_id"])
        documents[model] = [(s["doc_id"], s["doc_hash"], s["prompt_hash"]) for s in kept]
        values[model] = np.array([s[metric] for s in kept], dtype=np.float64)
    if not documents["pilot"] == documents["target"] == documents["transferred"]:
        raise NumericsError("SAMPLES_DIFFER", f"{task}: the models were not asked the same")
    return Measured(task, metric, values, mapped_share)


def pooled(task: str, parts: Sequence[Measured]) -> Measured:
    """A group's documents together: every document counts once, whatever its task."""
    values = {model: np.concatenate([p.values[model] for p in parts]) for model in MODELS}
    shares = [p.mapped_share for p in parts if p.mapped_share is not None]
    sizes = [p.count for p in parts if p.mapped_share is not None]
    share = float(np.average(shares, weights=sizes)) if shares else None
    return Measured(task, parts[0].metric, values, share)


def row_of(one: Measured, group: str | None = None) -> dict[str, Any]:
    """An evaluation's row; see `evaluation.ts` in contracts."""
    row: dict[str, Any] = {
        "task": one.task,
        "group": group,
        "metric": one.metric,
        "higher_is_better": not one.is_perplexity,
        "n": one.count,
        **{model: _value(one, model) for model in MODELS},
        "accuracy_retention": None,
        "left_out": None,
        "above_pilot": None,
        "mapped_share": one.mapped_share,
    }
    if one.is_perplexity:
        row["left_out"] = "a perplexity has no accuracy retention"
        return row
    kept = accuracy_retention(one.values["transferred"], one.values["target"])
    row["accuracy_retention"] = kept
    if kept is None:
        row["left_out"] = f"the target itself solves fewer than {LEAST_SOLVED} documents"
    row["above_pilot"] = difference(one.values["transferred"], one.values["pilot"])
    return row


def mean_of(tasks: Sequence[Measured]) -> dict[str, Any] | None:
    """Mean accuracy retention of the tasks that have one."""
    kept = [(t.values["transferred"], t.values["target"]) for t in tasks if not t.is_perplexity]
    return mean_retention(kept)


def warnings_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Rows whose transferred target answers worse than the pilot alone, by the interval of the difference.

    An interval that includes 0 does not tell the two apart, and is no warning.
    """
    found = []
    for row in rows:
        gap = row["above_pilot"]
        if row["higher_is_better"] and gap["high"] < 0:
            message = (
                f"{row['task']}: the transferred target solves {row['transferred']:.3f}, the pilot alone "
                f"{row['pilot']:.3f}; the interval of the difference is "
                f"[{gap['low']:.3f}, {gap['high']:.3f}]"
            )
            found.append({"code": BELOW_PILOT, "task": row["task"], "message": message})
    return found


def _value(one: Measured, model: str) -> float:
    values = one.values[model]
    found = perplexity(values[:, 0], values[:, 1]) if one.is_perplexity else float(values.mean())
    if not np.isfinite(found):
        raise NumericsError("NON_FINITE", f"{one.task}: the {model}'s {one.metric} is not finite")
    return found
