"""A conversation's line of cache over several turns: each span is carried once, and nobody else finds it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifeboat_kv.engine.kv_pool import BLOCK_TOKENS
from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.tail import tail_length

from .conftest import random_mapper
from .harness import SALT, RunningEngine, assert_same

MAC = "ab" * 32
Prompts = Callable[..., list[int]]


@pytest.fixture(scope="module")
def mappers(engine: RunningEngine, folders: dict[str, Path], mapper_sha: str) -> dict[str, str]:
    """By the model that is read: a mapper up and one down, both in memory."""
    down = write_mapper(engine.mapper_dir, random_mapper(folders["target"], folders["pilot"], 3), {})
    for digest in (mapper_sha, down):
        assert engine.client.put(f"/helm/mappers/{digest}").status_code == 200
    return {"pilot": mapper_sha, "target": down}


def carry(
    engine: RunningEngine,
    mappers: dict[str, str],
    tokens: list[int],
    *,
    source: str,
    salts: dict[str, str],
    from_token: int = 0,
    count: int = 4,
) -> dict[str, Any]:
    """Stages `source`'s cache of the prompt and asks the other model with it, each under its own salt."""
    taker = "target" if source == "pilot" else "pilot"
    mark = {"handle": secrets.token_hex(16), "mac": MAC}
    staged = {"do_stage": True, "ttl_ms": 5000, "native_salt": SALT, "from_token": from_token, **mark}
    answer = engine.complete(source, tokens, 1, cache_salt=salts[source], kv_transfer_params=staged)
    assert answer["kv_transfer_params"]["result"] == "staged"
    assert answer["kv_transfer_params"]["from_token"] == from_token
    params = {"mapper_sha256": mappers[source], "source_model": source, "native_salt": SALT, **mark}
    return engine.complete(taker, tokens, count, cache_salt=salts[taker], kv_transfer_params=params)


def test_turns_up_and_down_translate_each_span_once(
    engine: RunningEngine, mappers: dict[str, str], prompt: Prompts
) -> None:
    salts = {"pilot": "xkv-line-down", "target": "xkv-line-up"}
    tokens, held = prompt(160, seed=40), {"pilot": 0, "target": 0}
    engine.complete("pilot", tokens, 1, cache_salt=SALT)
    held["pilot"] = 160
    for turn in range(6):
        source, taker = ("pilot", "target") if turn % 2 == 0 else ("target", "pilot")
        known = min(held[taker], len(tokens) - 1) // BLOCK_TOKENS * BLOCK_TOKENS
        answer = carry(engine, mappers, tokens, source=source, salts=salts, from_token=known)
        report = answer["kv_transfer_params"]
        assert report["result"] == "transferred"
        assert report["tokens_reused"] >= known
        assert report["tokens_moved"] == len(tokens) - tail_length(len(tokens)) - report["tokens_reused"]
        held[source] = len(tokens)
        tokens = [*tokens, *answer["choices"][0]["token_ids"], *prompt(64, seed=50 + turn)]
        held[taker] = len(tokens) - 64 - 1


def test_what_a_model_computed_itself_is_found_and_comes_before_mapped_rows(
    engine: RunningEngine, mappers: dict[str, str], prompt: Prompts
) -> None:
    tokens = prompt(128, seed=60)
    salts = {"pilot": SALT, "target": "xkv-prefers-native"}
    carry(engine, mappers, tokens, source="pilot", salts=salts)
    mine = {"cache_salt": salts["target"], "kv_transfer_params": {"native_salt": SALT}}
    native = engine.alone("target", tokens, 8)
    engine.complete("target", tokens, 4, cache_salt=SALT)
    answer = engine.complete("target", tokens, 8, **mine)
    assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 112
    assert_same(answer["choices"][0]["token_ids"], native)


def test_a_native_request_finds_nothing_of_a_line(
    engine: RunningEngine, mappers: dict[str, str], prompt: Prompts
) -> None:
    """The line reads native blocks; the other way round there is no way."""
    tokens = prompt(96, seed=61)
    engine.complete("target", tokens[:32], 1, cache_salt=SALT)
    salts = {"pilot": SALT, "target": "xkv-one-way"}
    report = carry(engine, mappers, tokens, source="pilot", salts=salts)["kv_transfer_params"]
    assert report["tokens_reused"] == 32
    native = engine.alone("target", tokens, 8)
    for body in (
        {"cache_salt": SALT},
        {"cache_salt": "xkv-else", "kv_transfer_params": {"native_salt": SALT}},
    ):
        answer = engine.complete("target", tokens, 8, **body)
        assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] in (32, 80)
        assert_same(answer["choices"][0]["token_ids"], native)


def test_another_tenants_blocks_are_never_gone_on_from(
    engine: RunningEngine, mappers: dict[str, str], prompt: Prompts
) -> None:
    tokens = prompt(96, seed=62)
    engine.complete("target", tokens, 1, cache_salt="tenant-b")
    mine = {"cache_salt": "xkv-a", "kv_transfer_params": {"native_salt": SALT}}
    answer = engine.complete("target", tokens, 2, **mine)
    assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 0


def test_a_span_without_what_comes_before_it_falls_back(
    engine: RunningEngine, mappers: dict[str, str], prompt: Prompts
) -> None:
    tokens = prompt(96, seed=63)
    salts = {"pilot": SALT, "target": "xkv-lost"}
    answer = carry(engine, mappers, tokens, source="pilot", salts=salts, from_token=48, count=8)
    report = answer["kv_transfer_params"]
    assert (report["result"], report["reason"], report["tokens_moved"]) == ("fallback", "STAGING_GONE", 0)
    assert_same(answer["choices"][0]["token_ids"], engine.alone("target", tokens, 8))
    assert engine.engine.staging.used_bytes == 0


@pytest.mark.parametrize(
    "given", [{"native_salt": ""}, {"native_salt": 3}, {"native_salt": "x" * 1025}, {"from_token": -1}, {}]
)
def test_what_cannot_be_meant_is_refused(
    engine: RunningEngine, prompt: Prompts, given: dict[str, Any]
) -> None:
    params = {"do_stage": True, "handle": "a" * 32, "mac": MAC, **given} if "from_token" in given else given
    body = {"model": "target", "prompt": prompt(20), "kv_transfer_params": params}
    assert engine.post("/v1/completions", body, status=400)["error"]["param"].startswith("kv_transfer_params")
