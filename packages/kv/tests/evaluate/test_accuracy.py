"""Accuracy retention against cases whose answer is known, and the rows that are made of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from lifeboat_kv.errors import NumericsError
from lifeboat_kv.evaluate import outcome
from lifeboat_kv.evaluate.accuracy import (
    LEAST_SOLVED,
    accuracy_retention,
    difference,
    mean_retention,
    perplexity,
)


def right(count: int, of: int) -> np.ndarray:
    return np.array([1.0] * count + [0.0] * (of - count))


def test_the_same_answers_retain_exactly_everything():
    values = right(37, 60)
    assert accuracy_retention(values, values.copy()) == {"value": 1.0, "low": 1.0, "high": 1.0}


def test_a_target_that_is_always_right_leaves_the_binomial_interval():
    count = 400
    found = accuracy_retention(right(200, count), np.ones(count))
    assert found["value"] == 0.5
    low, high = binom.ppf([0.025, 0.975], count, 0.5) / count
    assert found["low"] == pytest.approx(low, abs=0.01)
    assert found["high"] == pytest.approx(high, abs=0.01)


def test_documents_are_drawn_in_pairs():
    target = right(100, 200)
    paired = accuracy_retention(target * 1.0, target)
    crossed = accuracy_retention(target[::-1].copy(), target)
    assert paired["value"] == crossed["value"] == 1.0
    assert crossed["high"] - crossed["low"] > 0.2


def test_a_ratio_above_one_is_said():
    found = accuracy_retention(right(55, 100), right(50, 100))
    assert found["value"] == pytest.approx(1.1)
    assert found["low"] > 1.0


def test_too_few_right_answers_say_nothing():
    assert accuracy_retention(right(5, 100), right(LEAST_SOLVED - 1, 100)) is None
    assert accuracy_retention(right(5, 100), right(LEAST_SOLVED, 100)) is not None


@settings(max_examples=20, deadline=None)
@given(st.integers(LEAST_SOLVED, 60), st.integers(0, 60), st.integers(0, 3))
def test_the_interval_holds_the_value(solved, moved, seed):
    chance = np.random.default_rng(seed)
    target, transferred = right(solved, 60), right(moved, 60)
    chance.shuffle(transferred)
    found = accuracy_retention(transferred, target, seed)
    assert found["low"] - 1e-9 <= found["value"] <= found["high"] + 1e-9


def test_the_mean_is_of_the_ratios_and_not_of_the_documents():
    tasks = [(right(10, 20), right(20, 20)), (right(100, 100), right(100, 100))]
    found = mean_retention([*tasks, (right(0, 50), right(LEAST_SOLVED - 1, 50))])
    assert found["value"] == pytest.approx(0.75)
    assert found["tasks"] == 2
    # Half of the first task's interval: the second has none.
    alone = accuracy_retention(*tasks[0])
    assert found["high"] - found["low"] == pytest.approx((alone["high"] - alone["low"]) / 2, abs=0.03)
    assert mean_retention([(right(1, 5), right(1, 5))]) is None


def test_the_difference_to_the_pilot_is_paired():
    assert difference(right(40, 80), right(40, 80)) == {"value": 0.0, "low": 0.0, "high": 0.0}
    worse = difference(right(20, 80), right(60, 80))
    assert worse["value"] == -0.5
    assert worse["high"] < -0.35


def test_perplexity_is_the_harnesss():
    assert perplexity(np.array([-2.0, -4.0]), np.array([1, 2])) == pytest.approx(np.exp(2.0))


def samples(values, metric="exact_match", filter_name="answer"):
    return [
        {
            "doc_id": i,
            "doc_hash": f"d{i}",
            "prompt_hash": f"p{i}",
            "filter": filter_name,
            "metrics": [metric],
            metric: value,
        }
        for i, value in enumerate(values)
    ]


def task(name, pilot, target, transferred, share=0.9):
    given_samples = {"pilot": samples(pilot), "target": samples(target), "transferred": samples(transferred)}
    return outcome.measured(name, given_samples, None, None, share)


def test_a_groups_row_counts_every_document_once():
    small = task("a", right(5, 10), right(10, 10), right(5, 10), share=0.5)
    large = task("b", right(45, 90), right(90, 90), right(90, 90), share=0.9)
    row = outcome.row_of(outcome.pooled("both", [small, large]))
    assert (row["n"], row["pilot"], row["target"], row["transferred"]) == (100, 0.5, 1.0, 0.95)
    assert row["accuracy_retention"]["value"] == pytest.approx(0.95)
    assert row["mapped_share"] == pytest.approx(0.86)


def test_a_transfer_below_the_pilot_is_warned_of_by_its_own_name():
    rows = [
        outcome.row_of(task("worse", right(60, 80), right(70, 80), right(20, 80))),
        outcome.row_of(task("better", right(20, 80), right(70, 80), right(60, 80))),
    ]
    (warning,) = outcome.warnings_of(rows)
    assert (warning["code"], warning["task"]) == ("ACCURACY_BELOW_PILOT", "worse")
    assert "0.250" in warning["message"] and "0.750" in warning["message"]


def test_a_difference_whose_interval_includes_none_is_no_warning():
    row = outcome.row_of(task("unclear", right(41, 80), right(70, 80), right(40, 80)))
    assert row["transferred"] < row["pilot"]
    assert row["above_pilot"]["low"] < 0 <= row["above_pilot"]["high"]
    assert outcome.warnings_of([row]) == []


def test_a_perplexity_has_no_accuracy_retention():
    nats = [(-30.0, 10), (-10.0, 10)]
    given_samples = {name: samples(nats, "word_perplexity", "none") for name in outcome.MODELS}
    one = outcome.measured("wikitext", given_samples, "word_perplexity", "none", 0.9)
    row = outcome.row_of(one)
    assert row["target"] == pytest.approx(np.exp(2.0))
    assert row["accuracy_retention"] is None and "perplexity" in row["left_out"]
    assert row["higher_is_better"] is False
    assert outcome.mean_of([one]) is None and outcome.warnings_of([row]) == []


def test_answers_to_other_documents_are_not_compared():
    mixed = samples(right(5, 10))
    mixed[3]["prompt_hash"] = "another"
    good = samples(right(5, 10))
    with pytest.raises(NumericsError, match="not asked the same"):
        outcome.measured("t", {"pilot": good, "target": good, "transferred": mixed}, None, None, None)


def test_the_asked_filter_is_the_one_that_counts():
    both = samples(right(2, 4), filter_name="strict") + samples(right(4, 4), filter_name="loose")
    one = outcome.measured("t", dict.fromkeys(outcome.MODELS, both), "exact_match", "strict", None)
    assert one.values["target"].tolist() == [1.0, 1.0, 0.0, 0.0]
