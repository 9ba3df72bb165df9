"""Which source head a target head reads: the best assignment on a matrix of held-out R2.

One to one where both models have as many KV heads, by shortest augmenting paths (Kuhn 1955; Jonker
and Volgenant 1987); otherwise each target head takes the source head that explains it best.
"""

from __future__ import annotations

import math

from torch import Tensor


def best_assignment(gain: Tensor) -> tuple[int, ...]:
    """The source head of each target head, from `gain` [source heads, target heads].

    Square: the permutation with the greatest sum. Otherwise the best row of each column, the lower
    index on a tie. Errors: ValueError where a gain is not finite.
    """
    table = gain.tolist()
    if not all(math.isfinite(value) for row in table for value in row):
        raise ValueError("the gains of an assignment must be finite")
    sources, targets = gain.shape
    if sources != targets:
        return tuple(max(range(sources), key=lambda s: (table[s][t], -s)) for t in range(targets))
    return _permutation([[-table[s][t] for s in range(sources)] for t in range(targets)])


def _permutation(cost: list[list[float]]) -> tuple[int, ...]:
    """For each row of a square `cost` its column, with the least sum over all permutations.

    Rows enter one by one; each takes the shortest augmenting path under reduced costs, with
    potentials `u` of rows and `v` of columns keeping all reduced costs from falling below zero.
    """
    size = len(cost)
    u, v = [0.0] * size, [0.0] * size
    row_of: list[int | None] = [None] * size
    for start in range(size):
        distance = [math.inf] * size
        before: list[int | None] = [None] * size
        done = [False] * size
        row, column, reached = start, None, 0.0
        while row is not None:
            for c in range(size):
                length = reached + cost[row][c] - u[row] - v[c]
                if not done[c] and length < distance[c]:
                    distance[c], before[c] = length, column
            column = min((c for c in range(size) if not done[c]), key=lambda c: distance[c])
            done[column], reached, row = True, distance[column], row_of[column]
        u[start] += reached
        for c in range(size):
            if done[c] and c != column:
                u[row_of[c]] += reached - distance[c]
                v[c] += distance[c] - reached
        while column is not None:
            earlier = before[column]
            row_of[column] = start if earlier is None else row_of[earlier]
            column = earlier
    chosen = [0] * size
    for column, row in enumerate(row_of):
        chosen[row] = column
    return tuple(chosen)
