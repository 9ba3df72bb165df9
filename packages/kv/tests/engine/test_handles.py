"""Handles of staged caches: guessed, replayed, foreign, expired or given twice, they bring a fallback."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.engine.staging import StagedCache, StagingStore

from .harness import RunningEngine, assert_same, wait_until
from .test_transfer import MAC, order, stage
from .test_units import Clock

Prompts = Callable[..., list[int]]
ROWS = [(torch.ones(1, 3, 2), torch.ones(1, 3, 2))]
SIZE = 2 * 1 * 3 * 2 * 4


@pytest.fixture(autouse=True)
def resident(engine: RunningEngine, mapper_sha: str) -> None:
    """The session's mapper is in memory."""
    assert engine.client.put(f"/helm/mappers/{mapper_sha}").status_code == 200


def ask(engine: RunningEngine, tokens: list[int], params: dict[str, Any]) -> dict[str, Any]:
    """The target's answer under a salt of its own."""
    salt = f"xkv-{secrets.token_hex(8)}"
    return engine.complete("target", tokens, 6, cache_salt=salt, kv_transfer_params=params)


def assert_fell_back(engine: RunningEngine, answer: dict[str, Any], tokens: list[int], reason: str) -> None:
    report = answer["kv_transfer_params"]
    assert (report["result"], report["reason"], report["tokens_moved"]) == ("fallback", reason, 0)
    assert_same(answer["choices"][0]["token_ids"], engine.alone("target", tokens, 6))


def test_one_handle_many_times_at_once_is_good_for_one(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    tokens = prompt(60, seed=91)
    params = order(stage(engine, tokens, ttl_ms=60_000), mapper_sha)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda _: ask(engine, tokens, params), range(12)))
    results = Counter(answer["kv_transfer_params"]["result"] for answer in answers)
    assert results == {"transferred": 1, "fallback": 11}
    for answer in answers:
        if answer["kv_transfer_params"]["result"] == "fallback":
            assert_fell_back(engine, answer, tokens, "STAGING_GONE")
    wait_until(engine.settled)
    assert engine.engine.staging.used_bytes == 0


def test_near_a_true_handle_is_nowhere(engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
    tokens = prompt(40, seed=92)
    handle = stage(engine, tokens, ttl_ms=60_000)
    flipped = f"{int(handle[0], 16) ^ 1:x}{handle[1:]}"
    for guess in (flipped, handle + "00", "0" * 32, "f" * 128, handle[::-1]):
        assert_fell_back(engine, ask(engine, tokens, order(guess, mapper_sha)), tokens, "STAGING_GONE")
    # None of the guesses took or spoiled what lies there.
    assert ask(engine, tokens, order(handle, mapper_sha))["kv_transfer_params"]["result"] == "transferred"


def test_somebody_elses_mark_gets_nothing_and_ends_the_handle(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    tokens = prompt(40, seed=93)
    handle = stage(engine, tokens, ttl_ms=60_000)
    foreign = order(handle, mapper_sha, mac="cd" * 32)
    assert_fell_back(engine, ask(engine, tokens, foreign), tokens, "STAGING_GONE")
    assert engine.engine.staging.used_bytes == 0
    assert_fell_back(engine, ask(engine, tokens, order(handle, mapper_sha)), tokens, "STAGING_GONE")


def test_a_handle_for_other_words_moves_only_what_both_begin_with(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    mine, theirs = prompt(40, seed=94), prompt(40, seed=95)
    assert mine[0] != theirs[0]
    params = order(stage(engine, theirs), mapper_sha)
    assert_fell_back(engine, ask(engine, mine, params), mine, "TEMPLATE_MISMATCH")
    assert engine.engine.staging.used_bytes == 0


def test_a_handle_named_for_another_model_brings_nothing(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    tokens = prompt(40, seed=96)
    wrong = order(stage(engine, tokens), mapper_sha, source_model="target")
    assert_fell_back(engine, ask(engine, tokens, wrong), tokens, "PAIR_MISMATCH")
    own = order(stage(engine, tokens, model="target"), mapper_sha, source_model="target")
    assert_fell_back(engine, ask(engine, tokens, own), tokens, "PAIR_MISMATCH")


def test_a_handle_given_twice_keeps_what_it_was_given_first(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    first, second = prompt(40, seed=97), prompt(40, seed=98)
    handle = stage(engine, first, ttl_ms=60_000)
    again = {"do_stage": True, "handle": handle, "mac": "cd" * 32, "ttl_ms": 60_000}
    refused = engine.complete("pilot", second, 1, cache_salt="s", kv_transfer_params=again)
    assert refused["kv_transfer_params"]["result"] == "fallback"
    moved = ask(engine, first, order(handle, mapper_sha))
    assert moved["kv_transfer_params"]["result"] == "transferred"


@pytest.mark.parametrize("handle", ["", "../x", "g" * 32, "a" * 31, "a" * 129, 7, None, ["a" * 32]])
def test_what_is_no_handle_is_refused_by_name(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts, handle: Any
) -> None:
    body = {
        "model": "target",
        "prompt": prompt(20),
        "max_tokens": 2,
        "kv_transfer_params": order(handle, mapper_sha),
    }
    refused = engine.post("/v1/completions", body, 400)
    assert refused["error"]["param"] == "kv_transfer_params.handle"


MOVES = st.one_of(
    st.tuples(st.just("put"), st.sampled_from("abc"), st.sampled_from("xy"), st.integers(1, 40)),
    st.tuples(st.just("take"), st.sampled_from("abcd"), st.sampled_from("xy"), st.just(0)),
    st.tuples(st.just("wait"), st.just(""), st.just(""), st.integers(1, 50)),
    st.tuples(st.just("sweep"), st.just(""), st.just(""), st.just(0)),
)


@settings(deadline=None)
@given(st.lists(MOVES, max_size=40), st.integers(0, 3))
def test_what_is_taken_was_staged_under_that_mark_is_young_and_comes_once(
    moves: list[tuple[str, str, str, int]], room: int
) -> None:
    clock = Clock()
    store = StagingStore(room * SIZE, clock)
    inside: dict[str, tuple[str, float, int]] = {}
    taken: list[StagedCache] = []
    for number, (move, handle, mac, amount) in enumerate(moves):
        if move == "wait":
            clock.now += amount / 1000
        elif move == "sweep":
            store.sweep()
            inside = {h: one for h, one in inside.items() if clock.now < one[1]}
        elif move == "put":
            inside = {h: one for h, one in inside.items() if clock.now < one[1]}
            fits = handle not in inside and len(inside) + len(taken) < room
            assert (store.put(handle, mac, "m", [number], ROWS, amount) is not None) == fits
            if fits:
                inside[handle] = (mac, clock.now + amount / 1000, number)
        else:
            found = store.take(handle, mac)
            known = inside.pop(handle, None)
            good = known is not None and known[0] == mac and clock.now < known[1]
            assert (found is not None) == good
            if found is not None:
                assert found.tokens == (known[2],)
                taken.append(found)
        assert store.used_bytes == (len(inside) + len(taken)) * SIZE
    for entry in taken:
        memory = entry.memory
        store.free(entry)
        with pytest.raises(ValueError, match="freed"):
            memory.view(entry.shape, entry.dtype)
    store.clear()
    assert store.used_bytes == 0


def test_marks_are_hexadecimal_and_long(engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
    body = {"model": "target", "prompt": prompt(20), "max_tokens": 2}
    params = order("a" * 32, mapper_sha, mac=MAC[:30])
    refused = engine.post("/v1/completions", {**body, "kv_transfer_params": params}, 400)
    assert refused["error"]["param"] == "kv_transfer_params.mac"
