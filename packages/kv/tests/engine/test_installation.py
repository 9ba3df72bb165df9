"""A transfer in slices: the same rows as at once, others go on in between, and nothing is left behind."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from lifeboat_kv.engine.installation import Installation
from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.form import ConstantHead

from .conftest import random_mapper
from .harness import RunningEngine, assert_same, running, wait_until
from .test_transfer import offline, order, stage

Prompts = Callable[..., list[int]]


@pytest.fixture(scope="module")
def small(folders: dict[str, Path], mapper_dir: Path, mapper_sha: str) -> Iterator[RunningEngine]:
    """An engine that maps 64 rows between two steps."""
    with running(folders, mapper_dir) as started:
        for scheduler in started.engine.schedulers.values():
            scheduler.map_rows = 64
        assert started.client.put(f"/helm/mappers/{mapper_sha}").status_code == 200
        yield started


@pytest.mark.parametrize("length", [40, 64, 65, 129, 700])
def test_in_slices_the_answer_is_the_offline_decode(
    small: RunningEngine, mapper_sha: str, prompt: Prompts, length: int
) -> None:
    tokens = prompt(length, seed=81)
    params = order(stage(small, tokens), mapper_sha)
    answer = small.complete("target", tokens, 12, cache_salt=f"xkv-s{length}", kv_transfer_params=params)
    reference = offline(small, tokens, mapper_sha, 12)
    assert answer["kv_transfer_params"]["tokens_moved"] == reference["mapped"]
    assert_same(answer["choices"][0]["token_ids"], reference)


def test_a_stored_head_is_written_once_and_exactly(
    small: RunningEngine, folders: dict[str, Path], prompt: Prompts
) -> None:
    """The head reaches past the first slice; slices after it must not write it again at their own rows."""
    tokens = prompt(300, seed=82)
    made = random_mapper(folders["pilot"], folders["target"], 5)
    shape = small.engine.schedulers["target"].pool.shape
    rows = torch.randn(2, shape.layers, shape.kv_heads, 90, shape.head_dim)
    made = replace(made, head=ConstantHead(tuple(tokens[:90]), rows[0], rows[1]))
    digest = write_mapper(small.mapper_dir, made, {})
    assert small.client.put(f"/helm/mappers/{digest}").status_code == 200
    answer = small.complete(
        "target",
        tokens,
        12,
        cache_salt="xkv-head",
        kv_transfer_params=order(stage(small, tokens), digest),
    )
    assert answer["kv_transfer_params"]["result"] == "transferred"
    assert_same(answer["choices"][0]["token_ids"], offline(small, tokens, digest, 12))


def test_rows_in_flight_go_on_between_slices(
    small: RunningEngine, mapper_sha: str, prompt: Prompts, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    forward = small.engine.models["target"].forward
    advance = Installation.advance

    def noted_forward(*given: Any) -> Any:
        steps.append("step")
        return forward(*given)

    def noted_slice(self: Installation, rows: int) -> None:
        steps.append("slice")
        advance(self, rows)

    tokens = prompt(700, seed=83)
    params = order(stage(small, tokens, ttl_ms=60_000), mapper_sha)
    monkeypatch.setattr(small.engine.models["target"], "forward", noted_forward)
    monkeypatch.setattr(Installation, "advance", noted_slice)
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(small.complete, "target", prompt(20, seed=84), 400, ignore_eos=True)
        wait_until(lambda: len(steps) > 3)
        moved = small.complete("target", tokens, 2, cache_salt="xkv-between", kv_transfer_params=params)
        assert moved["kv_transfer_params"]["result"] == "transferred"
        assert_same(
            other.result()["choices"][0]["token_ids"], small.past_ends("target", prompt(20, seed=84), 400)
        )
    slices = [at for at, what in enumerate(steps) if what == "slice"]
    assert len(slices) == 11
    assert all("step" in steps[a:b] for a, b in itertools.pairwise(slices))


def test_a_slice_that_fails_late_leaves_no_row_behind(
    small: RunningEngine, mapper_sha: str, prompt: Prompts, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    advance = Installation.advance

    def breaks_at_the_third(self: Installation, rows: int) -> None:
        calls.append(rows)
        if len(calls) == 3:
            raise RuntimeError("the device went away")
        advance(self, rows)

    monkeypatch.setattr(Installation, "advance", breaks_at_the_third)
    tokens = prompt(300, seed=85)
    params = order(stage(small, tokens), mapper_sha)
    answer = small.complete("target", tokens, 12, cache_salt="xkv-late", kv_transfer_params=params)
    report = answer["kv_transfer_params"]
    assert (report["result"], report["reason"], report["tokens_moved"]) == ("fallback", "ENGINE_ERROR", 0)
    assert_same(answer["choices"][0]["token_ids"], small.alone("target", tokens, 12))
    wait_until(small.settled)
    assert small.engine.staging.used_bytes == 0


def test_a_client_that_leaves_between_slices_leaves_nothing_behind(
    small: RunningEngine, mapper_sha: str, prompt: Prompts, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, gone = threading.Event(), threading.Event()
    advance = Installation.advance

    def waits_after_the_first(self: Installation, rows: int) -> None:
        assert not began.is_set() or gone.wait(30)
        advance(self, rows)
        began.set()

    tokens = prompt(700, seed=86)
    params = order(stage(small, tokens), mapper_sha)
    monkeypatch.setattr(Installation, "advance", waits_after_the_first)
    body = {
        "model": "target",
        "prompt": tokens,
        "max_tokens": 50,
        "cache_salt": "xkv-left",
        "kv_transfer_params": params,
    }

    impatient = httpx.Timeout(30, read=1)
    with pytest.raises(httpx.ReadTimeout), httpx.Client(base_url=small.url, timeout=impatient) as client:
        client.post("/v1/completions", json=body)
    assert began.is_set()
    wait_until(lambda: small.engine.loop._aborts)
    gone.set()
    wait_until(small.settled)
    assert small.engine.staging.used_bytes == 0
    # Its blocks serve others: what it wrote is nobody's.
    again = small.complete("target", tokens, 12, cache_salt="xkv-left")
    assert again["usage"]["prompt_tokens_details"]["cached_tokens"] == 0
    assert_same(again["choices"][0]["token_ids"], small.alone("target", tokens, 12))
