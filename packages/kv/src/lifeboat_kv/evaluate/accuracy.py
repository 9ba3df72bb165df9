"""Accuracy retention: what is left of the target's accuracy when it answers from a transferred cache.

Formula: (documents that the transferred target answers rightly) / (those that the target answers rightly by
itself), on the same documents. The published figures (Heo et al., arXiv:2608.03893: 14B -> 32B 97.6 %,
8B -> 32B 87.5 %) carry the same name; the design quotes them without saying how they are averaged, so each
task stands by itself here, and the mean over tasks is the mean of their ratios.
The interval is a paired percentile bootstrap over documents: one draw of documents for both accuracies.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

RESAMPLES = 2000
# Below this many right answers of the target the ratio's interval says nothing (and may divide by zero).
LEAST_SOLVED = 10
_CHUNK = 1 << 22

Interval = dict[str, float]


def resampled_means(columns: np.ndarray, seed: int) -> np.ndarray:
    """Means [RESAMPLES, c] of documents drawn with replacement from columns [n, c], all columns together."""
    count = len(columns)
    chance = np.random.default_rng(seed)
    step = max(1, _CHUNK // count)
    found = []
    for at in range(0, RESAMPLES, step):
        drawn = chance.integers(0, count, (min(step, RESAMPLES - at), count))
        found.append(columns[drawn].mean(axis=1))
    return np.concatenate(found)


def ratio_draws(transferred: np.ndarray, target: np.ndarray, seed: int = 0) -> np.ndarray | None:
    """[RESAMPLES] ratios of accuracies, NaN where a draw holds no document that the target solves.

    None where the target solves fewer than LEAST_SOLVED documents.
    """
    if target.sum() < LEAST_SOLVED:
        return None
    means = resampled_means(np.stack((transferred, target), axis=1), seed)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(means[:, 1] > 0, means[:, 0] / means[:, 1], np.nan)


def accuracy_retention(transferred: np.ndarray, target: np.ndarray, seed: int = 0) -> Interval | None:
    """{value, low, high} over documents [n] of 0 and 1 (or shares); None below LEAST_SOLVED."""
    draws = ratio_draws(transferred, target, seed)
    return None if draws is None else _interval(float(transferred.sum() / target.sum()), draws)


def difference(transferred: np.ndarray, pilot: np.ndarray, seed: int = 0) -> Interval:
    """{value, low, high} of the paired difference of accuracies, transferred less pilot."""
    gaps = (transferred - pilot)[:, None]
    return _interval(float(gaps.mean()), resampled_means(gaps, seed)[:, 0])


def mean_retention(tasks: Sequence[tuple[np.ndarray, np.ndarray]]) -> dict[str, float | int] | None:
    """{value, low, high, tasks}: the mean of the ratios of (transferred, target) documents by task.

    Documents are drawn task by task; tasks are fixed. Tasks below LEAST_SOLVED are left out.
    """
    values, draws = [], []
    for seed, (transferred, target) in enumerate(tasks):
        drawn = ratio_draws(transferred, target, seed)
        if drawn is not None:
            values.append(float(transferred.sum() / target.sum()))
            draws.append(drawn)
    if not values:
        return None
    return {**_interval(float(np.mean(values)), np.mean(draws, axis=0)), "tasks": len(values)}


def perplexity(loglikelihoods: np.ndarray, sizes: np.ndarray) -> float:
    """exp(-sum of nats / sum of words), as the harness aggregates it."""
    return float(np.exp(-loglikelihoods.sum() / sizes.sum()))


def _interval(value: float, draws: np.ndarray) -> Interval:
    low, high = np.nanquantile(draws, [0.025, 0.975])
    return {"value": value, "low": float(low), "high": float(high)}
