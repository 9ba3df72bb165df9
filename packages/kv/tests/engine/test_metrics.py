"""The metrics page: vLLM's names where vLLM has the number, and numbers that are true."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from .harness import RunningEngine, wait_until
from .test_transfer import order, stage

Prompts = Callable[..., list[int]]

# Names from vLLM's documentation of its production metrics. A counter's sample ends in _total.
GAUGES = ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc", "cache_config_info")
COUNTERS = (
    "prompt_tokens",
    "generation_tokens",
    "request_success",
    "prefix_cache_queries",
    "prefix_cache_hits",
    "external_prefix_cache_queries",
    "external_prefix_cache_hits",
    "num_preemptions",
)
HISTOGRAMS = (
    "iteration_tokens_total",
    "time_to_first_token_seconds",
    "inter_token_latency_seconds",
    "request_time_per_output_token_seconds",
    "e2e_request_latency_seconds",
    "request_queue_time_seconds",
    "request_prefill_time_seconds",
    "request_decode_time_seconds",
    "request_inference_time_seconds",
    "request_prompt_tokens",
    "request_generation_tokens",
    "request_params_n",
    "request_params_max_tokens",
)


def read(engine: RunningEngine, model: str = "target") -> dict[str, float]:
    """Samples of one model, and those that belong to none, by name and remaining labels."""
    found: dict[str, float] = {}
    for line in engine.client.get("/metrics").text.splitlines():
        if line.startswith("#") or ("model_name=" in line and f'model_name="{model}"' not in line):
            continue
        name, value = line.rsplit(" ", 1)
        found[re.sub(r'model_name="[^"]*",engine="0",?', "", name).replace("{}", "")] = float(value)
    return found


def test_every_name_is_vllms_with_its_kind(engine: RunningEngine, prompt: Prompts) -> None:
    engine.complete("target", prompt(20), 4)
    page = engine.client.get("/metrics").text
    kinds = dict(re.findall(r"^# TYPE (\S+) (\w+)$", page, re.MULTILINE))
    for names, kind, ending in (
        (GAUGES, "gauge", ""),
        (COUNTERS, "counter", "_total"),
        (HISTOGRAMS, "histogram", ""),
    ):
        for name in names:
            assert kinds.get(f"vllm:{name}{ending}") == kind, name
            sample = "_bucket" if kind == "histogram" else ending
            assert f'vllm:{name}{sample}{{model_name="target",engine="0"' in page, name
    known = {f"vllm:{n}" for n in (*GAUGES, *(f"{c}_total" for c in COUNTERS), *HISTOGRAMS)}
    assert {name for name in kinds if name.startswith("vllm:")} == known


def test_numbers_of_one_request(engine: RunningEngine, prompt: Prompts) -> None:
    wait_until(engine.settled)
    before = read(engine)
    engine.complete("target", prompt(40, seed=71), 6, n=2, ignore_eos=True, cache_salt="metrics")
    after = read(engine)

    def grown(name: str) -> float:
        return after[name] - before.get(name, 0)

    assert grown("vllm:prompt_tokens_total") == 40
    assert grown("vllm:generation_tokens_total") == 12
    assert grown('vllm:request_success_total{finished_reason="length"}') == 2
    assert grown("vllm:time_to_first_token_seconds_count") == 1
    assert grown("vllm:inter_token_latency_seconds_count") == 10
    assert grown("vllm:request_time_per_output_token_seconds_count") == 2
    assert grown("vllm:e2e_request_latency_seconds_count") == 2
    assert grown("vllm:request_generation_tokens_sum") == 12
    assert grown("vllm:request_prompt_tokens_sum") == 40
    assert grown("vllm:request_params_max_tokens_sum") == 6
    assert grown("vllm:request_params_n_sum") == 2
    assert grown("vllm:prefix_cache_queries_total") == 40
    for phase in ("prefill", "decode", "inference", "queue"):
        assert grown(f"vllm:request_{phase}_time_seconds_sum") >= 0
    spent = [f"vllm:{n}_seconds_sum" for n in ("request_decode_time", "e2e_request_latency")]
    assert 0 < grown(spent[0]) <= grown(spent[1])
    assert after["vllm:num_requests_running"] == after["vllm:num_requests_waiting"] == 0


def test_a_transfer_counts_as_an_external_hit(
    engine: RunningEngine, mapper_sha: str, prompt: Prompts
) -> None:
    assert engine.client.put(f"/helm/mappers/{mapper_sha}").status_code == 200
    before = read(engine)
    tokens = prompt(100, seed=72)
    params = order(stage(engine, tokens), mapper_sha)
    report = engine.complete("target", tokens, 2, cache_salt="xkv-counted", kv_transfer_params=params)
    moved = report["kv_transfer_params"]["tokens_moved"]
    after = read(engine)
    for what, count in (("queries", 100), ("hits", moved)):
        name = f"vllm:external_prefix_cache_{what}_total"
        assert after[name] - before[name] == count
    assert after["vllm:prefix_cache_hits_total"] == before["vllm:prefix_cache_hits_total"]


@pytest.mark.parametrize("tier", ["device", "host"])
def test_mappers_by_tier(engine: RunningEngine, mapper_sha: str, tier: str) -> None:
    assert engine.client.put(f"/helm/mappers/{mapper_sha}").status_code == 200
    found, memory = read(engine), engine.client.get("/helm/memory").json()
    share = memory["mappers" if tier == "device" else "mappers_host"]
    assert found[f'helm_engine_mapper_bytes{{tier="{tier}"}}'] == share["used_bytes"]
    assert found[f'helm_engine_mapper_budget_bytes{{tier="{tier}"}}'] == share["budget_bytes"]
    assert found[f'helm_engine_mappers{{tier="{tier}"}}'] >= (tier == "device")
    assert found['helm_engine_mapper_loads_total{source="disk"}'] >= 1
