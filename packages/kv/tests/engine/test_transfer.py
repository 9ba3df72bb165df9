"""Staging and transfer over HTTP: the right answer, the right reason, and nothing for anyone else."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifeboat_kv.mapper.artifact import read_mapper, write_mapper
from lifeboat_kv.measure.decode import decode

from .conftest import random_mapper
from .harness import SALT, RunningEngine, assert_same

MAC = "ab" * 32
Prompts = Callable[..., list[int]]


def stage(
    engine: RunningEngine, prompt: list[int], *, ttl_ms: int = 5000, salt: str = SALT, model: str = "pilot"
) -> str:
    """Stages a prompt's cache on a model; returns the handle."""
    handle = secrets.token_hex(16)
    params = {"do_stage": True, "handle": handle, "mac": MAC, "ttl_ms": ttl_ms}
    answer = engine.complete(model, prompt, 1, cache_salt=salt, kv_transfer_params=params)
    report = answer["kv_transfer_params"]
    assert report["result"] == "staged"
    assert report["tokens"] == len(prompt)
    return handle


def order(handle: str, mapper: str, **changes: Any) -> dict[str, Any]:
    """The target leg's `kv_transfer_params`."""
    return {"handle": handle, "mac": MAC, "mapper_sha256": mapper, "source_model": "pilot", **changes}


def offline(engine: RunningEngine, prompt: list[int], mapper: str, count: int) -> dict[str, Any]:
    """The offline scorer's greedy decode from the same transferred cache."""
    read = read_mapper(engine.mapper_dir / mapper)
    ends = engine.engine.models["target"].ends
    return decode(prompt, engine.plain["target"], ends, count, source=engine.plain["pilot"], mapper=read)


@pytest.fixture(autouse=True)
def resident(engine: RunningEngine, mapper_sha: str) -> None:
    """The session's mapper is in memory."""
    response = engine.client.put(f"/helm/mappers/{mapper_sha}")
    assert response.status_code == 200, response.text
    assert response.json()["source_model"] == "pilot"


@pytest.mark.parametrize("length", [2, 15, 16, 17, 40, 64, 333, 1300])
def test_transferred_answer_is_the_offline_decode(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts, length: int
) -> None:
    tokens = prompt(length, seed=1)
    handle = stage(engine, tokens)
    answer = engine.complete(
        "target", tokens, 16, cache_salt=f"xkv-{length}", kv_transfer_params=order(handle, mapper_sha)
    )
    report = answer["kv_transfer_params"]
    assert report["result"] == "transferred"
    reference = offline(engine, tokens, mapper_sha, 16)
    assert report["tokens_moved"] == reference["mapped"]
    assert report["tail_tokens"] == length - reference["mapped"]
    assert min(report["map_ms"], report["install_ms"], report["tail_ms"]) >= 0
    assert_same(answer["choices"][0]["token_ids"], reference)


def test_transfer_over_chat_and_stream_reports_in_the_last_chunk(
    engine: RunningEngine, mapper_sha: str
) -> None:
    body = {
        "model": "pilot",
        "messages": [{"role": "user", "content": "sort 7 3 9 1 " * 12}],
        "max_tokens": 1,
        "temperature": 0,
        "cache_salt": SALT,
    }
    handle = secrets.token_hex(16)
    staged = {"do_stage": True, "handle": handle, "mac": MAC, "ttl_ms": 5000}
    engine.post("/v1/chat/completions", {**body, "kv_transfer_params": staged})
    target = {
        **body,
        "model": "target",
        "max_tokens": 9,
        "cache_salt": "xkv-chat",
        "return_token_ids": True,
        "kv_transfer_params": order(handle, mapper_sha),
    }
    chunks = engine.events("/v1/chat/completions", target)
    assert chunks[-1]["kv_transfer_params"]["result"] == "transferred"
    assert chunks[-1]["helm_timing"]["first_token_ms"] > 0
    # The first token's object and the last one carry it, and no other.
    assert chunks[1]["kv_transfer_params"] == chunks[-1]["kv_transfer_params"]
    assert all("kv_transfer_params" not in chunk for chunk in [chunks[0], *chunks[2:-1]])
    said = [t for chunk in chunks for choice in chunk["choices"] for t in choice.get("token_ids") or ()]
    assert_same(said, offline(engine, chunks[0]["prompt_token_ids"], mapper_sha, 9))


def test_the_transferred_cache_is_really_used(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    """A random mapper changes what the target says; an engine that prefilled instead would be found out."""
    differing = 0
    for seed in range(4):
        tokens = prompt(50, seed=20 + seed)
        params = order(stage(engine, tokens), mapper_sha)
        moved = engine.complete("target", tokens, 8, cache_salt=f"xkv-used-{seed}", kv_transfer_params=params)
        native = engine.alone("target", tokens, 8)
        differing += moved["choices"][0]["token_ids"] != native["tokens"]
    assert differing > 0


def test_a_longer_prompt_moves_the_common_prefix(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    shared, rest = prompt(100, seed=2), prompt(60, seed=3)
    handle = stage(engine, [*shared, 7, 8])
    answer = engine.complete(
        "target", [*shared, *rest], 4, cache_salt="xkv-longer", kv_transfer_params=order(handle, mapper_sha)
    )
    report = answer["kv_transfer_params"]
    assert (report["result"], report["tokens_moved"], report["tail_tokens"]) == ("transferred", 100, 60)


def test_n_answers_start_from_one_transfer(engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
    tokens = prompt(70, seed=4)
    handle = stage(engine, tokens)
    answer = engine.complete(
        "target", tokens, 6, n=3, cache_salt="xkv-n", kv_transfer_params=order(handle, mapper_sha)
    )
    reference = offline(engine, tokens, mapper_sha, 6)
    for choice in answer["choices"]:
        assert_same(choice["token_ids"], reference)


class TestFallback:
    """Every trouble: the reason is named and the answer is the target's own."""

    def check(
        self,
        engine: RunningEngine,
        tokens: list[int],
        params: dict[str, Any],
        reason: str,
        salt: str | None = None,
    ) -> None:
        salt = salt or f"xkv-{reason}-{len(tokens)}"
        answer = engine.complete("target", tokens, 8, cache_salt=salt, kv_transfer_params=params)
        report = answer["kv_transfer_params"]
        assert (report["result"], report["reason"]) == ("fallback", reason)
        assert report["tokens_moved"] == 0
        assert_same(answer["choices"][0]["token_ids"], engine.alone("target", tokens, 8))
        assert engine.engine.staging.used_bytes == 0

    def test_unknown_handle(self, engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
        self.check(engine, prompt(40), order(secrets.token_hex(16), mapper_sha), "STAGING_GONE")

    def test_reused_handle(self, engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
        tokens = prompt(48, seed=5)
        params = order(stage(engine, tokens), mapper_sha)
        first = engine.complete("target", tokens, 8, cache_salt="xkv-reuse", kv_transfer_params=params)
        assert first["kv_transfer_params"]["result"] == "transferred"
        # Same salt on purpose: the mapped blocks lie there, and a fallback must not read them.
        self.check(engine, tokens, params, "STAGING_GONE", salt="xkv-reuse")

    def test_expired_handle(self, engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
        tokens = prompt(41)
        handle = stage(engine, tokens, ttl_ms=1)
        time.sleep(0.05)
        self.check(engine, tokens, order(handle, mapper_sha), "STAGING_GONE")

    def test_wrong_mac_burns_the_handle(
        self, engine: RunningEngine, mapper_sha: str, prompt: Prompts
    ) -> None:
        tokens = prompt(42)
        handle = stage(engine, tokens)
        self.check(engine, tokens, order(handle, mapper_sha, mac="cd" * 32), "STAGING_GONE", "xkv-mac-1")
        self.check(engine, tokens, order(handle, mapper_sha), "STAGING_GONE", "xkv-mac-2")

    def test_unknown_mapper(self, engine: RunningEngine, prompt: Prompts) -> None:
        tokens, unknown = prompt(43), "0" * 64
        self.check(engine, tokens, order(stage(engine, tokens), unknown), "MAPPER_NOT_RESIDENT")
        refused = engine.client.put(f"/helm/mappers/{unknown}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "ARTIFACT_UNREADABLE")
        self.check(engine, tokens, order(stage(engine, tokens), unknown), "ARTIFACT_UNREADABLE")

    def test_a_mapper_not_resident_loads_behind_the_fallback(
        self, engine: RunningEngine, mapper_sha: str, prompt: Prompts
    ) -> None:
        tokens = prompt(44)
        assert engine.client.delete(f"/helm/mappers/{mapper_sha}").json()["dropped"] is True
        params = order(stage(engine, tokens), mapper_sha)
        self.check(engine, tokens, params, "MAPPER_NOT_RESIDENT", "xkv-loads")
        for _ in range(100):
            states = {m["sha256"]: m["state"] for m in engine.client.get("/helm/mappers").json()["mappers"]}
            if states.get(mapper_sha) == "resident":
                break
            time.sleep(0.02)
        again = order(stage(engine, tokens), mapper_sha)
        answer = engine.complete("target", tokens, 4, cache_salt="xkv-loaded", kv_transfer_params=again)
        assert answer["kv_transfer_params"]["result"] == "transferred"

    def test_corrupted_mapper(self, engine: RunningEngine, folders: dict[str, Path], prompt: Prompts) -> None:
        digest = write_mapper(engine.mapper_dir, random_mapper(folders["pilot"], folders["target"], 9), {})
        file = engine.mapper_dir / digest / "mapper.safetensors"
        raw = bytearray(file.read_bytes())
        raw[-5] ^= 1
        file.write_bytes(raw)
        refused = engine.client.put(f"/helm/mappers/{digest}")
        assert refused.json()["error"]["code"] == "ARTIFACT_UNREADABLE"
        tokens = prompt(45)
        self.check(engine, tokens, order(stage(engine, tokens), digest), "ARTIFACT_UNREADABLE")

    def test_mapper_of_another_pair(
        self, engine: RunningEngine, folders: dict[str, Path], prompt: Prompts
    ) -> None:
        reverse = write_mapper(engine.mapper_dir, random_mapper(folders["target"], folders["pilot"]), {})
        assert engine.client.put(f"/helm/mappers/{reverse}").status_code == 200
        tokens = prompt(46)
        self.check(engine, tokens, order(stage(engine, tokens), reverse), "PAIR_MISMATCH")

    def test_mapper_of_other_weights(
        self, engine: RunningEngine, folders: dict[str, Path], prompt: Prompts
    ) -> None:
        foreign = random_mapper(folders["pilot"], folders["target"], 10)
        foreign.source["weights_sha256"] = "f" * 64
        digest = write_mapper(engine.mapper_dir, foreign, {})
        refused = engine.client.put(f"/helm/mappers/{digest}")
        assert (refused.status_code, refused.json()["error"]["code"]) == (422, "PAIR_MISMATCH")
        tokens = prompt(47)
        self.check(engine, tokens, order(stage(engine, tokens), digest), "PAIR_MISMATCH")

    def test_nothing_in_common(self, engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
        handle = stage(engine, [11, *prompt(50)])
        self.check(engine, [12, *prompt(50)], order(handle, mapper_sha), "TEMPLATE_MISMATCH")

    def test_nothing_beside_the_tail(self, engine: RunningEngine, mapper_sha: str, prompt: Prompts) -> None:
        tokens = prompt(1)
        self.check(engine, tokens, order(stage(engine, tokens), mapper_sha), "BLOCK_TOO_SMALL")

    def test_a_mapper_that_overflows(
        self, engine: RunningEngine, folders: dict[str, Path], prompt: Prompts
    ) -> None:
        wild = random_mapper(folders["pilot"], folders["target"], 11)
        for layer in wild.layers:
            layer.wk.fill_(3e38)
        digest = write_mapper(engine.mapper_dir, wild, {})
        assert engine.client.put(f"/helm/mappers/{digest}").status_code == 200
        tokens = prompt(49)
        self.check(engine, tokens, order(stage(engine, tokens), digest), "ENGINE_ERROR")


class TestIsolation:
    """Mapped blocks are found under their own salt and by nobody else."""

    def test_no_other_salt_hits_mapped_blocks(
        self, engine: RunningEngine, mapper_sha: str, prompt: Prompts
    ) -> None:
        tokens = prompt(96, seed=6)
        handle = stage(engine, tokens)
        engine.complete(
            "target", tokens, 4, cache_salt="xkv-mine", kv_transfer_params=order(handle, mapper_sha)
        )
        native = engine.alone("target", tokens, 8)
        for salt in ({}, {"cache_salt": SALT}, {"cache_salt": "xkv-other"}):
            answer = engine.complete("target", tokens, 8, **salt)
            assert answer["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
            assert_same(answer["choices"][0]["token_ids"], native)

    def test_a_later_turn_under_the_same_salt_continues_the_line(
        self, engine: RunningEngine, mapper_sha: str, prompt: Prompts
    ) -> None:
        tokens = prompt(96, seed=7)
        handle = stage(engine, tokens)
        params = order(handle, mapper_sha)
        engine.complete("target", tokens, 4, cache_salt="xkv-turns", kv_transfer_params=params)
        later = engine.complete("target", [*tokens, *prompt(20, seed=8)], 4, cache_salt="xkv-turns")
        assert later["usage"]["prompt_tokens_details"]["cached_tokens"] == 96

    def test_a_transfer_without_a_salt_is_never_remembered(
        self, engine: RunningEngine, mapper_sha: str, prompt: Prompts
    ) -> None:
        tokens = prompt(96, seed=9)
        params = order(stage(engine, tokens), mapper_sha)
        answer = engine.complete("target", tokens, 4, kv_transfer_params=params)
        assert answer["kv_transfer_params"]["result"] == "transferred"
        again = engine.complete("target", tokens, 8)
        assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
        assert_same(again["choices"][0]["token_ids"], engine.alone("target", tokens, 8))


def test_staging_over_budget_is_refused_and_the_answer_stands(engine: RunningEngine, prompt: Prompts) -> None:
    limit, engine.engine.staging.budget_bytes = engine.engine.staging.budget_bytes, 1000
    try:
        params = {"do_stage": True, "handle": secrets.token_hex(16), "mac": MAC, "ttl_ms": 100}
        answer = engine.complete("pilot", prompt(40), 1, kv_transfer_params=params)
    finally:
        engine.engine.staging.budget_bytes = limit
    report = answer["kv_transfer_params"]
    assert (report["result"], report["reason"]) == ("fallback", "NO_MEMORY")
    assert len(answer["choices"][0]["token_ids"]) == 1
