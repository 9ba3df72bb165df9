"""Head assignment against every permutation, and a fit that has to find heads that were moved."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.fit.heads import best_assignment
from lifeboat_kv.fit.layers import Sums, fit_head_local
from lifeboat_kv.moments.accumulate import Columns
from lifeboat_kv.moments.second_moments import Moments


@given(size=st.integers(1, 6), seed=st.integers(0, 100_000), ties=st.booleans())
@settings(max_examples=60, deadline=None)
def test_a_square_assignment_is_the_best_permutation(size: int, seed: int, ties: bool) -> None:
    gain = np.random.default_rng(seed).normal(size=(size, size))
    gain = gain.round() if ties else gain
    found = best_assignment(torch.tensor(gain))
    assert sorted(found) == list(range(size))
    best = max(sum(gain[p[t], t] for t in range(size)) for p in itertools.permutations(range(size)))
    assert sum(gain[s, t] for t, s in enumerate(found)) == pytest.approx(best, abs=1e-9)


def test_with_other_head_counts_each_target_head_takes_its_best() -> None:
    gain = torch.tensor([[0.1, 0.9, 0.3, 0.3], [0.2, 0.8, 0.4, 0.3]])
    assert best_assignment(gain) == (1, 0, 1, 0)


def test_gains_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        best_assignment(torch.tensor([[float("nan")]]))


@given(seed=st.integers(0, 100_000))
@settings(max_examples=10, deadline=None)
def test_heads_that_were_moved_are_found_and_fitted_as_in_float64(seed: int) -> None:
    """Three source layers of three heads; target head t was made from head moved[t] of layers 0 and 2."""
    chance = np.random.default_rng(seed)
    moved = chance.permutation(3)
    x = chance.normal(size=(400, 3, 3, 4))
    mixing = chance.normal(size=(2, 3, 4, 4))
    y = sum(np.einsum("nhd,hde->nhe", x[:, layer][:, moved], mixing[i]) for i, layer in enumerate((0, 2)))
    y = y + 0.05 * chance.normal(size=y.shape) + 1.0
    rows = np.concatenate([x.reshape(400, -1), y.reshape(400, -1)], 1).astype(np.float32)
    splits = []
    for part in (rows[:300], rows[300:]):
        splits.append(Moments.empty(48, leading=36))
        splits[-1].add(torch.tensor(part))
    columns = Columns({s: 12 * s for s in range(3)}, 12, {0: 36}, 12, 36, 48)
    found = fit_head_local(Sums(*splits, columns), 0, range(3), 2, 3, 3)
    assert found.layers == (0, 2)
    assert found.heads == (tuple(moved), tuple(moved))
    assert found.r2 > 0.98
    exact = rows.astype(np.float64)
    for head in range(3):
        picked = [exact[:300, 12 * s + 4 * moved[head] :][:, :4] for s in (0, 2)]
        features, wanted = np.concatenate(picked, 1), exact[:300, 36 + 4 * head :][:, :4]
        centred = features - features.mean(0)
        load = found.relative_lambda * (centred**2).sum(0).mean() * np.eye(8)
        weights = np.linalg.solve(centred.T @ centred + load, centred.T @ (wanted - wanted.mean(0)))
        np.testing.assert_allclose(found.weights[head].numpy(), weights, rtol=1e-3, atol=1e-4)
        bias = wanted.mean(0) - features.mean(0) @ weights
        np.testing.assert_allclose(found.bias.view(3, 4)[head].numpy(), bias, rtol=1e-3, atol=1e-3)
