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
    from the groups' first digests, so from nothing but content. Errors: CorpusError CORPUS_TOO_SHORT.
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
    """Groups in an order of chance that follows from content, not from size; short sequences left out."""
    groups = []
    for group in pool:
        unique = {s.digest: s for s in reversed(group) if len(s.tokens) >= SHORTEST_PREFIX}
        if unique:
            groups.append(sorted(unique.items()))
    # A large group has a small first digest; hashed once more, its size says nothing about its place.
    groups.sort(key=lambda group: hashlib.sha256(group[0][0].encode()).digest())
    return [[sequence for _, sequence in group] for group in groups]


def _dealt(
    groups: list[list[Sequence]], names: Listed[str], sizes: Sizes, share: int
) -> dict[str, list[Sequence]]:
    dealt: dict[str, list[Sequence]] = {name: [] for name in names}
    waiting = iter(groups)
    for name in names:
        count = getattr(sizes, name)
        while len(dealt[name]) < count:
            group = next(waiting, None)
            if group is None:
                break
            dealt[name] += group[: min(share, count - len(dealt[name]))]
    return dealt


def _least(name: str, sizes: Sizes) -> int:
    """Fit and report may be half as long as asked for; select and gate may not."""
    count: int = getattr(sizes, name)
    return max(1, count // 2) if name in ("fit", "report") else count
