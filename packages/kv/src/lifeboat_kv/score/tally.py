"""Per-sequence counts of every arm, in the form the events carry."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

BUCKETS = (("first", 0, 1), ("early", 1, 16), ("late", 16, 64))


@dataclass
class SequenceTally:
    """One probe sequence under one arm; positions of all its hand-over points are pooled."""

    id: str
    domain: str
    split: str
    prefixes: list[int] = field(default_factory=list)
    agree: dict[str, int] = field(default_factory=lambda: {name: 0 for name, *_ in BUCKETS})
    total: dict[str, int] = field(default_factory=lambda: {name: 0 for name, *_ in BUCKETS})
    kl_sum: float = 0.0
    recovered: int | None = None
    lost: int | None = None
    points: list[dict[str, Any]] | None = None
    gold_gain: float | None = None
    native_gold_gain: float | None = None
    multiple: int | None = None
    digest: str | None = None

    def event(self) -> dict[str, Any]:
        """JSON-ready, by the schema of SequenceCounts."""
        buckets = {n: {"agree": self.agree[n], "total": self.total[n]} for n, *_ in BUCKETS}
        found = {
            "id": self.id,
            "domain": self.domain,
            "split": self.split,
            "prefixes": self.prefixes,
            **buckets,
            "kl_sum": self.kl_sum,
        }
        for name in ("recovered", "lost", "gold_gain", "native_gold_gain", "multiple", "points", "digest"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        return found


class Tally:
    """All arms of one split. `kl_values` keeps every position's KL of the mapper, for its p95.

    `multiple` is set for split "long": how many times the fitted length its prefixes reach.
    """

    def __init__(self, split: str, multiple: int | None = None) -> None:
        self.split = split
        self.multiple = multiple
        self.arms: dict[str, dict[str, SequenceTally]] = {}
        self.kl_values: list[Tensor] = []

    def of(self, arm: str, identifier: str, domain: str) -> SequenceTally:
        """The tally of one sequence, made when first asked for."""
        rows = self.arms.setdefault(arm, {})
        if identifier not in rows:
            rows[identifier] = SequenceTally(identifier, domain, self.split, multiple=self.multiple)
        return rows[identifier]

    def add(
        self, row: SequenceTally, prefix: int, same: Tensor, kl: Tensor, *, pointwise: bool = False
    ) -> None:
        """One hand-over point: `same` [n] bool and `kl` [n] nats over its answer's positions.

        `pointwise` keeps the point's own counts beside the pooled ones.
        """
        row.prefixes.append(prefix)
        counts: dict[str, Any] = {"prefix": prefix}
        for name, start, end in BUCKETS:
            part = same[start:end]
            counts[name] = {"agree": int(part.sum()), "total": part.numel()}
            row.agree[name] += counts[name]["agree"]
            row.total[name] += counts[name]["total"]
        if pointwise:
            row.points = [*(row.points or []), counts]
        row.kl_sum += float(kl.double().sum())

    def retention(self, arm: str) -> dict[str, Any]:
        """{value, buckets, totals}: shares pooled over all sequences, then the mean of the three buckets.

        A bucket without positions has share None, and then the value is None.
        """
        rows = list(self.arms.get(arm, {}).values())
        totals = {name: sum(r.total[name] for r in rows) for name, *_ in BUCKETS}
        shares = {
            name: sum(r.agree[name] for r in rows) / total if total else None
            for name, total in totals.items()
        }
        known = [s for s in shares.values() if s is not None]
        value = sum(known) / len(known) if len(known) == len(BUCKETS) else None
        return {"value": value, "buckets": shares, "totals": totals}

    def mean_kl(self, arm: str) -> float:
        """Mean KL(native || arm) in nats over all counted positions."""
        rows = list(self.arms.get(arm, {}).values())
        positions = sum(sum(r.total.values()) for r in rows)
        return sum(r.kl_sum for r in rows) / positions if positions else 0.0

    def kl_p95(self) -> float:
        """95th percentile of the mapper's KL over positions, nats."""
        if not self.kl_values:
            return 0.0
        return float(torch.quantile(torch.cat(self.kl_values).double(), 0.95))

    def events(self, arm: str) -> list[dict[str, Any]]:
        """Counts of every sequence, ordered by id."""
        return [row.event() for _, row in sorted(self.arms.get(arm, {}).items())]
