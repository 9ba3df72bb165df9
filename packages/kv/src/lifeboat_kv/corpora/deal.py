"""Dealing out: groups of related sequences into disjoint splits, in an order that content alone decides."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from collections.abc import Sequence as Listed

from ..errors import CorpusError
from .sequence import SHORTEST_PREFIX, Sequence, Sizes

# A group gives a split this many sequences while there are others: probes of one document are one opinion.
_FIRST_SHARE = 4


def deal(pool: list[list[Sequence]], names: Listed[str], sizes: Sizes) -> dict[str, list[Sequence]]:
    """The sequences of each split of `names`, which are filled one after the other.

    `pool` holds groups; all of a group goes into one split or is left out. The order follows
    from content alone. Errors: CorpusError CORPUS_TOO_SHORT.
    """
    groups = _ordered(pool)
    share = _FIRST_SHARE
    while True:
        dealt = _dealt(groups, names, sizes, share)
        missing = [n for n in names if len(dealt[n]) < getattr(sizes, n)]
        if not missing or all(len(group) <= share for group in groups):
            break
        share *= 2
    for name in names:
        least = _least(name, sizes)
        if len(dealt[name]) < least:
            total = sum(map(len, groups))
            raise CorpusError(
                "CORPUS_TOO_SHORT",
                f"the corpus has {total} different sequences of {SHORTEST_PREFIX} tokens and more in "
                f"{len(groups)} unrelated documents; the {name} split alone needs {least} after the others: "
                "give a longer corpus",
            )
    return dealt


def check_disjoint(splits: Mapping[str, list[Sequence]]) -> None:
    """Errors: CorpusError SPLITS_OVERLAP where one token sequence is in two splits, or twice in one."""
    seen: dict[str, str] = {}
    for name, rows in splits.items():
        for sequence in rows:
            if sequence.digest in seen:
                raise CorpusError(
                    "SPLITS_OVERLAP", f"sequence {sequence.id} is in {seen[sequence.digest]} and in {name}"
                )
            seen[sequence.digest] = name


def _ordered(pool: list[list[Sequence]]) -> list[list[Sequence]]:
    """Groups in an order of chance that follows from content; short sequences left out.

    Domains are spread evenly over it, so that every split gets its share of each.
    """
    domains: dict[str, list[list[Sequence]]] = {}
    for group in pool:
        unique = {s.digest: s for s in reversed(group) if len(s.tokens) >= SHORTEST_PREFIX}
        if unique:
            found = [unique[digest] for digest in sorted(unique)]
            domains.setdefault(found[0].domain, []).append(found)
    placed = []
    for groups in domains.values():
        # A large group has a small first digest; hashed once more, its size says nothing about its place.
        groups.sort(key=lambda group: hashlib.sha256(group[0].digest.encode()).digest())
        weights = [min(len(group), _FIRST_SHARE) for group in groups]
        before = 0
        for group, weight in zip(groups, weights, strict=True):
            placed.append(((before + weight / 2) / sum(weights), group[0].digest, group))
            before += weight
    return [group for _, _, group in sorted(placed, key=lambda place: place[:2])]


def _dealt(
    groups: list[list[Sequence]], names: Listed[str], sizes: Sizes, share: int
) -> dict[str, list[Sequence]]:
    """Every split its quota, `share` sequences of a group at first, then what its own groups have left."""
    dealt: dict[str, list[Sequence]] = {}
    waiting = iter(groups)
    for name in names:
        count = getattr(sizes, name)
        found: list[Sequence] = []
        rest: list[Sequence] = []
        while len(found) < count:
            group = next(waiting, None)
            if group is None:
                break
            take = min(share, count - len(found))
            found += group[:take]
            rest += group[take:]
        dealt[name] = found + rest[: count - len(found)]
    return dealt


def _least(name: str, sizes: Sizes) -> int:
    """Fit and report may be half as long as asked for; select and gate may not."""
    count: int = getattr(sizes, name)
    return max(1, count // 2) if name in ("fit", "report") else count
