"""Moments, ridge and re-normalisation against independent float64 references."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.errors import NumericsError
from lifeboat_kv.fit.ridge import Block, bias, held_out_r2, solve
from lifeboat_kv.mapper.form import renormalise
from lifeboat_kv.moments.second_moments import Moments

SEEDS = st.integers(0, 100_000)


def moments_of(rows: np.ndarray, weights: np.ndarray | None, pieces: int) -> Moments:
    found = Moments.empty(rows.shape[1])
    for index in np.array_split(np.arange(len(rows)), pieces):
        part = None if weights is None else torch.tensor(weights[index], dtype=torch.float32)
        found.add(torch.tensor(rows[index], dtype=torch.float32), part)
    return found


@given(seed=SEEDS, pieces=st.integers(1, 7), mean=st.floats(-1000, 1000), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_moments_are_the_two_pass_ones(seed: int, pieces: int, mean: float, weighted: bool) -> None:
    chance = np.random.default_rng(seed)
    rows = (chance.normal(size=(60, 5)) * chance.uniform(0.1, 3, 5) + mean).astype(np.float32)
    weights = chance.uniform(0.5, 40, 60).astype(np.float32) if weighted else None
    found = moments_of(rows, weights, pieces)
    exact, w = rows.astype(np.float64), np.ones(60) if weights is None else weights.astype(np.float64)
    centre = (w[:, None] * exact).sum(0) / w.sum()
    scatter = ((exact - centre) * w[:, None]).T @ (exact - centre)
    np.testing.assert_allclose(found.mean.numpy(), centre, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(found.scatter.numpy(), scatter, rtol=2e-4, atol=2e-4 * np.abs(scatter).max())


@given(seed=SEEDS, scale=st.floats(0.5, 40))
@settings(max_examples=20, deadline=None)
def test_a_scaled_merge_is_a_weight(seed: int, scale: float) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(40, 4))
    base, first = moments_of(rows, None, 3), moments_of(rows[:10], None, 1)
    base.merge(first, scale - 1)
    weights = np.where(np.arange(40) < 10, scale, 1.0)
    whole = moments_of(rows, weights, 1)
    torch.testing.assert_close(base.mean, whole.mean, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(base.scatter, whole.scatter, rtol=1e-4, atol=1e-3)


@given(seed=SEEDS, relative=st.sampled_from([1e-5, 1e-3, 1e-1]))
@settings(max_examples=30, deadline=None)
def test_ridge_is_the_float64_solution(seed: int, relative: float) -> None:
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(80, 6)) * chance.uniform(0.01, 30, 6) + 5
    y = x @ chance.normal(size=(6, 3)) + chance.normal(size=(80, 3)) + 2
    joint = moments_of(np.concatenate([x, y], 1), None, 4)
    block = Block.of(joint, torch.arange(6), torch.arange(6, 9))
    weights = solve(block, relative)
    x32, y32 = x.astype(np.float32).astype(np.float64), y.astype(np.float32).astype(np.float64)
    xc, yc = x32 - x32.mean(0), y32 - y32.mean(0)
    load = relative * np.diag(xc.T @ xc).mean() * np.eye(6)
    wanted = np.linalg.solve(xc.T @ xc + load, xc.T @ yc)
    np.testing.assert_allclose(weights.numpy(), wanted, rtol=2e-3, atol=2e-3 * np.abs(wanted).max())
    held = moments_of(np.concatenate([x[:50] + 1, y[:50]], 1), None, 2)
    predicted = (x[:50] + 1) @ weights.numpy() + bias(block, weights).numpy()
    r2 = 1 - ((y[:50] - predicted) ** 2).sum() / ((y[:50] - y[:50].mean(0)) ** 2).sum()
    got = held_out_r2(block, Block.of(held, torch.arange(6), torch.arange(6, 9)), weights)
    assert got == pytest.approx(r2, abs=1e-3 * max(1, abs(r2)))


def test_singular_features_are_solved_by_the_fallback() -> None:
    x = np.random.default_rng(0).normal(size=(50, 3))
    joint = moments_of(np.concatenate([x, x[:, :1], x @ np.ones((3, 1))], 1), None, 1)
    block = Block.of(joint, torch.arange(4), torch.arange(4, 5))
    weights = solve(block, 0.0)
    predicted = np.concatenate([x, x[:, :1]], 1) @ weights.numpy() + bias(block, weights).numpy()
    np.testing.assert_allclose(predicted[:, 0], x.sum(1), atol=1e-3)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_non_finite_rows_are_refused_and_change_nothing(bad: float) -> None:
    found = Moments.empty(2)
    found.add(torch.ones(3, 2))
    with pytest.raises(NumericsError):
        found.add(torch.tensor([[1.0, bad]]))
    assert found.n == 3
    with pytest.raises(NumericsError):
        solve(Block(1.0, *torch.zeros(2, 1), torch.tensor([[bad]]), torch.ones(1, 1), torch.ones(1)), 0.1)


@given(seed=SEEDS, wide=st.floats(0.05, 20))
@settings(max_examples=40, deadline=None)
def test_renormalise_restores_what_k_norm_makes(seed: int, wide: float) -> None:
    chance = torch.Generator().manual_seed(seed)
    gamma = 0.05 + (wide - 0.05) * torch.rand(16, generator=chance, dtype=torch.float64)
    raw = torch.randn(2, 5, 16, generator=chance, dtype=torch.float64)
    key = raw / raw.square().mean(-1, keepdim=True).sqrt() * gamma
    torch.testing.assert_close(renormalise(key, gamma), key)
    torch.testing.assert_close(renormalise(0.37 * key, gamma), key)
    rms = (renormalise(torch.randn(3, 16, dtype=torch.float64), gamma) / gamma).square().mean(-1).sqrt()
    torch.testing.assert_close(rms, torch.ones_like(rms))


def test_renormalise_leaves_dead_dimensions_and_zero_keys_alone() -> None:
    gamma = torch.tensor([1.0, 0.0, 2.0])
    key = renormalise(torch.tensor([[3.0, 0.0, 2.0], [0.0, 0.0, 0.0]]), gamma)
    assert torch.isfinite(key).all()
    assert key[1].abs().sum() == 0
