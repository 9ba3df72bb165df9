"""Hand-over points: where, in each probe sequence, the target takes over."""

from __future__ import annotations

import random
from dataclasses import dataclass

from ..corpora import SHORTEST_PREFIX, Sequence
from ..mapper.tail import tail_length

FEWEST_POINTS = 2
MOST_POINTS = 3
ANSWER_TOKENS = 64


@dataclass(frozen=True)
class Point:
    """A hand-over after `prefix` tokens of sequence number `row` of a group."""

    row: int
    prefix: int

    @property
    def mapped(self) -> int:
        """Rows of the prefix that come from the mapped cache; the target computes the others."""
        return self.prefix - tail_length(self.prefix)


def points_of(row: int, sequence: Sequence, longest: int, shortest: int = SHORTEST_PREFIX) -> list[Point]:
    """Two or three points with prefixes of `shortest` ... `longest` tokens: the corpus's cuts, filled up at
    random.

    The random ones follow from the sequence's digest alone, so that a pair's probes never change.
    """
    end = min(longest, len(sequence.tokens))
    cuts = sorted({c for c in sequence.cuts if shortest <= c <= end})
    if len(cuts) > MOST_POINTS:
        step = (len(cuts) - 1) / (MOST_POINTS - 1)
        cuts = [cuts[round(i * step)] for i in range(MOST_POINTS)]
    free = [p for p in range(shortest, end + 1) if p not in cuts]
    missing = max(0, FEWEST_POINTS - len(cuts))
    chance = random.Random(sequence.digest)
    cuts += chance.sample(free, min(missing, len(free)))
    return [Point(row, c) for c in sorted(cuts)]
