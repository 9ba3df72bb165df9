"""A hundred prompts really transferred, many at once: the live answer is the offline decode."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import torch

from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.models.facts import inspect_model

from .harness import RunningEngine, assert_same
from .test_transfer import offline, order, stage

Prompts = Callable[..., list[int]]
COUNT = 104
ANSWER = 6


def test_live_answers_at_64_at_once_are_the_offline_decode(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    assert engine.client.put(f"/helm/mappers/{mapper_sha}").status_code == 200
    dice = random.Random(3)
    prompts = [prompt(dice.randrange(24, 120), seed=1000 + i) for i in range(COUNT)]

    def ask(tokens: list[int]) -> dict[str, object]:
        params = order(stage(engine, tokens, ttl_ms=60_000), mapper_sha)
        salt = f"xkv-{secrets.token_hex(4)}"
        return engine.complete("target", tokens, ANSWER, cache_salt=salt, kv_transfer_params=params)

    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(ask, prompts))
    assert all(answer["kv_transfer_params"]["result"] == "transferred" for answer in answers)
    near_ties = 0
    for tokens, answer in zip(prompts, answers, strict=True):
        near_ties += assert_same(
            answer["choices"][0]["token_ids"], offline(engine, tokens, mapper_sha, ANSWER)
        )
    print(f"{COUNT} prompts transferred, {near_ties} met a near tie")
    assert near_ties <= COUNT // 10


def test_an_identity_map_carries_a_models_own_cache(
    engine: RunningEngine, folders: dict[str, Path], prompt: Prompts
) -> None:
    """Un-rotate, identity, re-rotate, install: the target must answer as if it had prefilled."""
    facts = inspect_model(folders["target"])
    width = facts["num_key_value_heads"] * facts["head_dim"]
    eye, zero = torch.eye(width), torch.zeros(width)
    layers = tuple(
        LayerMap((i,), (i,), eye.clone(), zero.clone(), eye.clone(), zero.clone())
        for i in range(facts["num_hidden_layers"])
    )
    digest = write_mapper(engine.mapper_dir, Mapper("identity", facts, facts, layers), {})
    assert engine.client.put(f"/helm/mappers/{digest}").status_code == 200
    for seed in range(4):
        tokens = prompt(150, seed=2000 + seed)
        handle = stage(engine, tokens, model="target")
        answer = engine.complete(
            "target",
            tokens,
            16,
            cache_salt=f"xkv-self-{seed}",
            kv_transfer_params=order(handle, digest, source_model="target"),
        )
        assert answer["kv_transfer_params"]["tokens_moved"] == 143
        assert_same(answer["choices"][0]["token_ids"], engine.alone("target", tokens, 16))
