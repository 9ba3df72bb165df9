"""The lambda path and the layer choice against a float64 search over the rows themselves."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.fit.layers import Sums, choose_layers, fit_full_head
from lifeboat_kv.fit.ridge import LAMBDAS
from lifeboat_kv.moments.accumulate import Columns
from lifeboat_kv.moments.second_moments import Moments

WIDTH, LAYERS, OUT = 4, 3, 5


def r2_by_rows(
    fit: tuple[np.ndarray, np.ndarray, np.ndarray], check: tuple, relative: float
) -> tuple[float, np.ndarray]:
    """Held-out R2 and weights of a weighted ridge, in float64, from rows (x, y, w)."""
    x, y, w = fit
    mean_x, mean_y = (w @ x) / w.sum(), (w @ y) / w.sum()
    xc, yc = x - mean_x, y - mean_y
    gram = (xc * w[:, None]).T @ xc
    weights = np.linalg.solve(
        gram + relative * np.diag(gram).mean() * np.eye(x.shape[1]), (xc * w[:, None]).T @ yc
    )
    x, y, w = check
    missed = (w[:, None] * (y - mean_y - (x - mean_x) @ weights) ** 2).sum()
    total = (w[:, None] * (y - (w @ y) / w.sum()) ** 2).sum()
    return 1 - missed / total, weights


@given(
    seed=st.integers(0, 100_000), rows=st.integers(20, 200), noise=st.floats(0.01, 3), weighted=st.booleans()
)
@settings(max_examples=25, deadline=None)
def test_lambda_is_the_best_of_the_path(seed: int, rows: int, noise: float, weighted: bool) -> None:
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(2 * rows, LAYERS * WIDTH)) * chance.uniform(0.1, 10, LAYERS * WIDTH) + 3
    y = x @ chance.normal(size=(LAYERS * WIDTH, OUT)) + noise * chance.normal(size=(2 * rows, OUT))
    x, y = x.astype(np.float32), y.astype(np.float32)
    w = (chance.uniform(0.5, 30, 2 * rows) if weighted else np.ones(2 * rows)).astype(np.float32)
    splits, exact = [], []
    for part in (slice(0, rows), slice(rows, None)):
        found = Moments.empty(LAYERS * WIDTH + OUT, leading=LAYERS * WIDTH)
        found.add(torch.tensor(np.concatenate([x[part], y[part]], 1)), torch.tensor(w[part]))
        splits.append(found)
        exact.append(tuple(a[part].astype(np.float64) for a in (x, y, w)))
    read = {s: s * WIDTH for s in range(LAYERS)}
    columns = Columns(read, WIDTH, {7: LAYERS * WIDTH}, OUT, LAYERS * WIDTH, LAYERS * WIDTH + OUT)
    found = fit_full_head(Sums(*splits, columns), 7, range(LAYERS), LAYERS)
    by_lambda = {lam: r2_by_rows(*exact, lam)[0] for lam in LAMBDAS}
    assert by_lambda[found.relative_lambda] >= max(by_lambda.values()) - 1e-4
    r2, weights = r2_by_rows(*exact, found.relative_lambda)
    assert abs(found.r2 - r2) < 1e-3 * max(1.0, abs(r2))
    np.testing.assert_allclose(found.weights.numpy(), weights, rtol=5e-3, atol=5e-3 * np.abs(weights).max())
    assert found.best_single_r2 <= max(by_lambda.values()) + 0.05


@given(seed=st.integers(0, 100_000), k=st.integers(1, 5))
@settings(max_examples=40, deadline=None)
def test_layers_that_add_up_are_chosen_in_order_of_gain(seed: int, k: int) -> None:
    gains = np.random.default_rng(seed).uniform(0, 1, 12)
    chosen, single = choose_layers(lambda layers: float(sum(gains[s] for s in layers)), range(12), k)
    assert set(chosen) == set(np.argsort(-gains)[:k].tolist())
    assert single == gains.max() and list(chosen) == sorted(chosen)


def test_a_layer_that_helps_only_beside_the_best_one_is_found() -> None:
    def r2_of(layers: list[int]) -> float:
        return {(0,): 0.5, (1,): 0.4, (2,): 0.1, (0, 1): 0.55, (0, 2): 0.9}[tuple(sorted(layers))]

    assert choose_layers(r2_of, range(3), 2)[0] == (0, 2)
