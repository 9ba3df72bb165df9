"""Every formula between rows and a mapped key, against float64 references that share no code with it.

The bounds are stated: float32 sums lose a few units of 2^-24 of what they add up, float64 ones nothing.
"""

from __future__ import annotations

from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers.models.qwen3.modeling_qwen3 import Qwen3RMSNorm

from lifeboat_kv.fit.ridge import LAMBDAS, Block, bias, held_out_errors, held_out_r2, solve
from lifeboat_kv.mapper.endings import k_norm, renormalise
from lifeboat_kv.mapper.form import ConstantHead
from lifeboat_kv.mapper.tail import tail_length
from lifeboat_kv.moments import second_moments as moments
from lifeboat_kv.moments.second_moments import Moments

SEEDS = st.integers(0, 1 << 30)


def two_pass(rows: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Weight sum, mean and scatter in float64: the mean first, then what is left of it."""
    x, w = rows.astype(np.float64), weights.astype(np.float64)
    mean = (w[:, None] * x).sum(0) / w.sum()
    return w.sum(), mean, (x - mean).T @ (w[:, None] * (x - mean))


def exactly(rows: np.ndarray, weights: np.ndarray | None = None, leading: int | None = None) -> Moments:
    """Moments of rows without float32 in between, so that what is built on them can be judged alone."""
    n, mean, scatter = two_pass(rows, np.ones(len(rows)) if weights is None else weights)
    lead = scatter.shape[0] if leading is None else leading
    held = torch.from_numpy(scatter[:lead].copy())
    return Moments(n, torch.from_numpy(mean), held, torch.from_numpy(scatter.diagonal()[lead:].copy()))


@given(
    seed=SEEDS,
    pieces=st.integers(1, 9),
    far=st.sampled_from([0.0, 10.0, 1e3, 1e5]),
    uneven=st.sampled_from([0.0, 2.0]),
    drift=st.sampled_from([0.0, 3.0]),
    waiting=st.sampled_from([32, 4096]),
)
@settings(max_examples=60, deadline=None)
def test_moments_of_badly_placed_rows(
    seed: int, pieces: int, far: float, uneven: float, drift: float, waiting: int
) -> None:
    """Means up to 1e5 spreads away, spreads from 0.01 to 100, weights from 0.01 to 100, rows that drift.

    A mean is off by at most 32 roundings of its column's spread, an entry of the scatter by 64 of two's.
    """
    chance = np.random.default_rng(seed)
    spread = 10.0 ** chance.uniform(-uneven, uneven, 6)
    rows = chance.normal(size=(300, 6)) + drift * np.linspace(0, 1, 300)[:, None]
    rows[:, 3] = rows[:, 1] + 0.05 * rows[:, 3]
    rows = ((rows + far * chance.choice([-1.0, 1.0], 6)) * spread).astype(np.float32)
    weights = (10.0 ** chance.uniform(-2, 2, 300)).astype(np.float32)
    found, merged = Moments.empty(6), Moments.empty(6)
    with patch.multiple(moments, BUFFER_ROWS=waiting):
        for index in np.array_split(np.arange(300), pieces):
            part = torch.from_numpy(rows[index]), torch.from_numpy(weights[index])
            found.add(*part)
            alone = Moments.empty(6)
            alone.add(*part)
            merged.merge(alone)
    n, mean, scatter = two_pass(rows, weights)
    reach = np.sqrt(np.outer(scatter.diagonal(), scatter.diagonal()))
    for got in (found, merged):
        assert got.n == pytest.approx(n, rel=1e-6)
        assert (np.abs(got.mean.numpy() - mean) <= 32 * 2.0**-24 * np.sqrt(scatter.diagonal() / n)).all()
        assert (np.abs(got.scatter.numpy() - scatter) <= 64 * 2.0**-24 * reach).all()
        np.testing.assert_allclose(got.diagonal.numpy(), got.scatter.numpy().diagonal())


@given(seed=SEEDS, first=st.floats(0.25, 64), second=st.floats(0.25, 64), leading=st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_a_merge_s_scale_is_a_weight_of_its_rows(
    seed: int, first: float, second: float, leading: int
) -> None:
    """Chan's merge alone, in float64: three groups far apart, two of them with a weight of their own."""
    chance = np.random.default_rng(seed)
    groups = [chance.normal(size=(n, 4)) + 100 * chance.normal(size=4) for n in (30, 7, 1)]
    one, two, three = (exactly(group, leading=leading) for group in groups)
    joined = one.copy()
    joined.merge(two, first)
    joined.merge(three, second)
    joined.merge(Moments.empty(4, leading=leading), 5.0)
    joined.merge(three, 0.0)
    weights = np.repeat([1.0, first, second], [30, 7, 1])
    n, mean, scatter = two_pass(np.concatenate(groups), weights)
    assert joined.n == pytest.approx(n)
    np.testing.assert_allclose(joined.mean.numpy(), mean, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(
        joined.scatter.numpy(), scatter[:leading], rtol=1e-10, atol=1e-12 * scatter.max()
    )
    np.testing.assert_allclose(joined.diagonal.numpy(), scatter.diagonal(), rtol=1e-10)
    np.testing.assert_allclose(one.mean.numpy(), groups[0].mean(0), err_msg="a copy is independent")


def augmented(x: np.ndarray, y: np.ndarray, w: np.ndarray, relative: float) -> tuple[np.ndarray, np.ndarray]:
    """Ridge with a free intercept as plain least squares: a row sqrt(l) e_i -> 0 for every feature."""
    root = np.sqrt(w)[:, None]
    centred = x - (w[:, None] * x).sum(0) / w.sum()
    load = relative * np.mean((w[:, None] * centred**2).sum(0))
    features = x.shape[1]
    left = np.block([[root * x, root], [np.sqrt(load) * np.eye(features), np.zeros((features, 1))]])
    right = np.concatenate([root * y, np.zeros((features, y.shape[1]))])
    solution = np.linalg.lstsq(left, right, rcond=None)[0]
    return solution[:-1], solution[-1]


def regression(seed: int, uneven: float, far: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features of very different size, two of them nearly the same; targets; weights."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(90, 7)) + far
    x[:, 4] = x[:, 2] + 1e-3 * x[:, 4]
    y = x @ chance.normal(size=(7, 3)) + chance.normal(size=(90, 3)) - 5
    return x * 10.0 ** chance.uniform(-uneven, uneven, 7), y, 10.0 ** chance.uniform(-1, 1, 90)


@given(seed=SEEDS, uneven=st.floats(0, 2), far=st.sampled_from([0.0, 3.0, 50.0]))
@settings(max_examples=40, deadline=None)
def test_the_whole_lambda_path_is_the_least_squares_of_augmented_rows(
    seed: int, uneven: float, far: float
) -> None:
    x, y, w = regression(seed, uneven, far)
    block = Block.of(exactly(np.hstack([x, y]), w), torch.arange(7), torch.arange(7, 10))
    size = np.sqrt(np.average((x - np.average(x, axis=0, weights=w)) ** 2, axis=0, weights=w))
    spread = np.abs(y - np.average(y, axis=0, weights=w)).max()
    norms, errors = [], []
    for relative in LAMBDAS:
        weights = solve(block, relative)
        offset = bias(block, weights)
        wanted, intercept = augmented(x, y, w, relative)
        # Compared where they matter: on the targets, feature by feature of usual size.
        assert np.abs((weights.numpy() - wanted) * size[:, None]).max() <= 1e-7 * spread
        residue = y - (x @ weights.numpy() + offset.numpy())
        assert np.abs(residue - (y - x @ wanted - intercept)).max() <= 1e-7 * spread * (1 + far)
        assert np.abs((w[:, None] * residue).sum(0)).max() <= 1e-8 * spread * w.sum() * (1 + far)
        norms.append(float(weights.square().sum()))
        errors.append(float((w[:, None] * residue**2).sum()))
    assert all(a >= b * (1 - 1e-9) for a, b in pairwise(norms))
    assert all(a <= b * (1 + 1e-9) for a, b in pairwise(errors))


@given(seed=SEEDS, relative=st.sampled_from(LAMBDAS), moved=st.floats(-3, 3))
@settings(max_examples=40, deadline=None)
def test_held_out_r2_is_that_of_predicted_rows(seed: int, relative: float, moved: float) -> None:
    """On rows with other means and weights than those of the fit, where the bias is wrong by design."""
    x, y, w = regression(seed, 1.0, 2.0)
    held_x, held_y, held_w = regression(seed + 1, 1.0, 2.0)
    held_x, held_y = held_x + moved, held_y - moved
    columns = torch.arange(7), torch.arange(7, 10)
    fit = Block.of(exactly(np.hstack([x, y]), w), *columns)
    held = Block.of(exactly(np.hstack([held_x, held_y]), held_w), *columns)
    wanted, intercept = augmented(x, y, w, relative)
    squares = held_w[:, None] * (held_y - held_x @ wanted - intercept) ** 2
    around = held_w[:, None] * (held_y - np.average(held_y, axis=0, weights=held_w)) ** 2
    weights = solve(fit, relative)
    np.testing.assert_allclose(held_out_errors(fit, held, weights).numpy(), squares.sum(0), rtol=1e-5)
    r2 = 1 - squares.sum() / around.sum()
    assert held_out_r2(fit, held, weights) == pytest.approx(r2, abs=1e-5 * (1 + abs(r2)))


@given(seed=SEEDS, relative=st.sampled_from(LAMBDAS))
@settings(max_examples=15, deadline=None)
def test_a_stack_of_systems_is_each_of_them_alone(seed: int, relative: float) -> None:
    sets = [np.hstack(regression(seed + i, 1.0, 1.0)[:2]) for i in range(3)]
    joint = exactly(np.hstack(sets))
    x = torch.stack([10 * i + torch.arange(7) for i in range(3)])
    y = torch.stack([10 * i + torch.arange(7, 10) for i in range(3)])
    together = Block.of(joint, x, y)
    weights = solve(together, relative)
    offsets = bias(together, weights)
    for i in range(3):
        alone = Block.of(joint, x[i], y[i])
        torch.testing.assert_close(weights[i], solve(alone, relative))
        torch.testing.assert_close(offsets[i], bias(alone, solve(alone, relative)))


def gammas(seed: int, low: float, high: float) -> np.ndarray:
    """Weights of a k_norm between `low` and `high` in size, spread by orders, some of them negative."""
    chance = np.random.default_rng(seed)
    return np.exp(chance.uniform(np.log(low), np.log(high), 32)) * chance.choice([1, 1, 1, -1], 32)


ROUNDING = {torch.float64: 2.0**-53, torch.float32: 2.0**-24, torch.bfloat16: 2.0**-8}
every_dtype = pytest.mark.parametrize("dtype", ROUNDING, ids=str)
bounds = st.sampled_from([(0.05, 20.0), (0.05, 0.05), (20.0, 20.0), (0.9, 1.1)])


@every_dtype
@given(seed=SEEDS, bound=bounds, size=st.sampled_from([0.05, 1.0, 30.0]))
@settings(max_examples=30, deadline=None)
def test_renormalise_is_the_float64_formula(dtype: torch.dtype, seed: int, bound, size: float) -> None:
    """For gamma from 0.05 to 20: RMS(k / gamma) ends at one, the direction stays, twice changes nothing."""
    gamma = torch.from_numpy(gammas(seed, *bound)).to(dtype)
    k = torch.from_numpy(size * np.random.default_rng(seed + 1).normal(size=(2, 3, 32))).to(dtype)
    g, exact = gamma.double().numpy(), k.double().numpy()
    wanted = exact / np.sqrt(np.mean((exact / g) ** 2, axis=-1, keepdims=True))
    got = renormalise(k, gamma)
    assert got.dtype == dtype
    assert (np.abs(got.double().numpy() - wanted) <= 16 * ROUNDING[dtype] * np.abs(wanted)).all()
    again = renormalise(got, gamma).double().numpy()
    assert (np.abs(again - wanted) <= 32 * ROUNDING[dtype] * np.abs(wanted)).all()


@every_dtype
@given(seed=SEEDS, bound=bounds, size=st.sampled_from([1e-3, 1.0, 30.0]))
@settings(max_examples=30, deadline=None)
def test_k_norm_is_qwen3_s_own_and_leaves_what_renormalise_keeps(
    dtype: torch.dtype, seed: int, bound, size: float
) -> None:
    gamma = torch.from_numpy(gammas(seed, *bound)).to(dtype)
    k = torch.from_numpy(size * np.random.default_rng(seed + 1).normal(size=(2, 3, 32))).to(dtype)
    g, exact = gamma.double().numpy(), k.double().numpy()
    wanted = g * exact / np.sqrt(np.mean(exact**2, axis=-1, keepdims=True) + 1e-6)
    got = k_norm(k, gamma, 1e-6)
    unit = ROUNDING[dtype]
    assert (np.abs(got.double().numpy() - wanted) <= 16 * unit * np.abs(wanted)).all()
    own = Qwen3RMSNorm(32, eps=1e-6)
    own.weight.data = gamma
    single = max(unit, ROUNDING[torch.float32])  # Qwen3 itself computes in float32
    theirs = own(k).detach().double().numpy()
    assert (np.abs(got.double().numpy() - theirs) <= 16 * single * np.abs(wanted)).all()
    if size >= 1.0:
        kept = renormalise(got, gamma).double().numpy()
        assert (np.abs(kept - wanted) <= (32 * unit + 2e-6) * np.abs(wanted)).all()


@given(st.integers(1, 1 << 40))
@settings(max_examples=200, deadline=None)
def test_the_tail_is_a_twentieth_between_one_and_sixty_four(prefix: int) -> None:
    tail = tail_length(prefix)
    assert 1 <= tail <= min(64, prefix)
    assert tail == 1 or 20 * tail <= prefix, "never more than five percent beyond the one token"
    assert tail == 64 or 20 * (tail + 1) > prefix, "and no token less"
    assert tail_length(prefix + 1) in (tail, tail + 1)


def test_the_tail_at_its_edges() -> None:
    edges = {1: 1, 19: 1, 20: 1, 39: 1, 40: 2, 1279: 63, 1280: 64, 1281: 64, 131_072: 64}
    assert {prefix: tail_length(prefix) for prefix in edges} == edges
    for prefix in (0, -1):
        with pytest.raises(ValueError):
            tail_length(prefix)


@given(
    stored=st.lists(st.integers(0, 2), max_size=6),
    tokens=st.lists(st.integers(0, 2), max_size=9),
)
@settings(max_examples=100, deadline=None)
def test_a_constant_head_matches_the_longest_common_beginning(stored: list[int], tokens: list[int]) -> None:
    head = ConstantHead(tuple(stored), torch.zeros(0), torch.zeros(0))
    longest = max(n for n in range(len(stored) + 1) if stored[:n] == tokens[:n])
    assert head.match(tokens) == longest
    assert head.match(None) == 0
