"""Budgets as given, what takes the place of those that are not, and what a ledger lets others take."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifeboat_kv.engine.budgets import (
    KV_SHARE,
    MOST_KV,
    MOST_STAGING,
    GivenBudgets,
    default_tokens,
    parse_kv_budgets,
    share_out,
)
from lifeboat_kv.engine.memory_ledger import MemoryLedger, MemoryShortError
from lifeboat_kv.errors import EXIT_RESOURCES, UsageError

GIB = 1 << 30


class TestGiven:
    def test_one_number_gives_every_model_as_many_tokens(self) -> None:
        found = GivenBudgets(kv=12_000).kv_for({"pilot": 5, "target": 7})
        assert found == {"pilot": 5_000, "target": 7_000}

    def test_a_model_may_have_its_own_and_the_other_none(self) -> None:
        assert parse_kv_budgets(["pilot=10,a=b=20"]) == (None, {"pilot": 10, "a=b": 20})
        assert GivenBudgets(kv_of={"pilot": 10}).kv_for({"pilot": 5, "target": 7}) == {"pilot": 10}

    @pytest.mark.parametrize(
        "texts",
        [["0"], ["-1"], ["1e9"], ["pilot="], ["=5"], [""], ["5", "6"], ["a=1", "a=2"], ["1", "a=2"], ["²"]],
    )
    def test_what_is_no_budget_is_refused(self, texts: list[str]) -> None:
        with pytest.raises(UsageError, match="--kv-budget-bytes"):
            parse_kv_budgets(texts)

    def test_a_model_that_is_not_served_is_named(self) -> None:
        with pytest.raises(UsageError, match="'pilto'; served are pilot, target"):
            GivenBudgets(kv_of={"pilto": 10}).kv_for({"pilot": 5, "target": 7})


class TestDefaults:
    @given(st.integers(-GIB, 64 * GIB))
    def test_nothing_takes_more_than_its_share_of_what_is_free(self, spare: int) -> None:
        free = max(0, spare)
        shared = share_out(GivenBudgets(), spare, spare)
        cache = sum(default_tokens({"a": 5, "b": 7}, ["a", "b"], spare) * size for size in (5, 7))
        assert cache <= min(MOST_KV, free // KV_SHARE)
        assert shared.staging + shared.mappers + shared.mappers_host <= max(3, free * 5 // 16)

    def test_where_nobody_can_tell_they_are_at_their_most(self) -> None:
        assert share_out(GivenBudgets(), None, None).staging == MOST_STAGING
        assert default_tokens({"a": 4}, ["a"], None) == MOST_KV // 4


class TestLedger:
    def test_untouched_pages_are_not_free_and_touched_ones_are_not_counted_twice(self) -> None:
        free, held = 1_000, 0
        ledger = MemoryLedger("host", lambda: free, reserve=100)
        ledger.promise("a cache", 600, lambda: held)
        assert ledger.available() == 300
        free, held = 600, 400
        assert (ledger.untouched, ledger.available()) == (200, 300)

    def test_a_refusal_names_what_is_needed_available_and_missing(self) -> None:
        ledger = MemoryLedger("host", lambda: 10_000, reserve=1_000)
        ledger.promise("pilot's cache", 5_000)
        ledger.require(4_000, "target", "all of it")
        with pytest.raises(MemoryShortError) as caught:
            ledger.require(7_500, "target", "weights 7,000, cache 500")
        error = caught.value
        assert (error.needed_bytes, error.available_bytes, error.missing_bytes) == (7_500, 4_000, 3_500)
        assert (error.code, error.exit_code) == ("MEMORY_SHORT", EXIT_RESOURCES)
        for words in ("7,500", "4,000", "3,500", "5,000", "target", "HELM_ENGINE_KV_BYTES", "another node"):
            assert words in error.message

    def test_who_comes_first_counts(self) -> None:
        ledger = MemoryLedger("host", lambda: 10_000, reserve=0)
        with pytest.raises(MemoryShortError):
            ledger.require(4_000, "target", "", before=6_001)

    def test_where_nothing_is_measured_nothing_is_refused(self) -> None:
        ledger = MemoryLedger("host", lambda: None)
        ledger.require(1 << 60, "target", "")
        assert ledger.available() is None
