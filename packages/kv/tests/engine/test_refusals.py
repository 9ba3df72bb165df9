"""Typed refusals, faults that show nothing of the inside, and what the engine says of itself."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from .harness import RunningEngine, assert_same, wait_until

Prompts = Callable[..., list[int]]


class TestErrors:
    CHAT = ({"messages": [{"role": "user", "content": "hi"}], "model": "pilot"}, "/v1/chat/completions")

    @pytest.mark.parametrize(
        ("change", "param"),
        [
            ({"temperature": -1}, "temperature"),
            ({"temperature": "hot"}, "temperature"),
            ({"top_p": 0}, "top_p"),
            ({"n": 0}, "n"),
            ({"n": True}, "n"),
            ({"max_tokens": 0}, "max_tokens"),
            ({"max_completion_tokens": "many"}, "max_completion_tokens"),
            ({"stop": ["a"] * 17}, "stop"),
            ({"stop": [""]}, "stop"),
            ({"top_logprobs": 2}, "top_logprobs"),
            ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"),
            ({"stream_options": {"include_usage": True}}, "stream_options"),
            ({"seed": 1.5}, "seed"),
            ({"logit_bias": {"x": 1}}, "logit_bias"),
            ({"logit_bias": {"99999": 1}}, "logit_bias"),
            ({"response_format": {"type": "json_object"}}, "response_format"),
            ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
            ({"cache_salt": 7}, "cache_salt"),
            ({"kv_transfer_params": {"handle": "zz"}}, "kv_transfer_params.handle"),
            ({"messages": []}, "messages"),
            ({"chat_template_kwargs": {"eos_token": "again and again"}}, "chat_template_kwargs"),
            ({"chat_template_kwargs": {"bos_token": ""}}, "chat_template_kwargs"),
            ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role"),
            ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content"),
        ],
    )
    def test_bad_parameters_are_named(
        self, engine: RunningEngine, change: dict[str, Any], param: str
    ) -> None:
        body, path = self.CHAT
        error = engine.post(path, {**body, **change}, 400)["error"]
        assert error["param"] == param
        assert error["type"] == "invalid_request_error"
        assert error["message"]

    def test_half_a_character_is_no_prompt(self, engine: RunningEngine) -> None:
        half = "half \ud83d"
        messages = [{"role": "user", "content": half}]
        for path, given in (
            ("/v1/completions", {"prompt": half}),
            ("/tokenize", {"prompt": half}),
            ("/v1/chat/completions", {"messages": messages}),
            ("/tokenize", {"messages": messages}),
        ):
            answer = engine.client.post(path, content=json.dumps({"model": "pilot", **given}))
            assert answer.status_code == 400, answer.text
            assert answer.json()["error"]["param"] in given

    def test_unknown_model(self, engine: RunningEngine) -> None:
        body, path = self.CHAT
        error = engine.post(path, {**body, "model": "nobody"}, 404)["error"]
        assert (error["code"], error["param"]) == ("model_not_found", "model")

    def test_too_long_a_context(self, engine: RunningEngine, prompt: Prompts) -> None:
        limit = engine.engine.models["pilot"].max_model_len
        for body in (
            {"prompt": prompt(limit), "max_tokens": 1},
            {"prompt": prompt(10), "max_tokens": limit},
        ):
            error = engine.post("/v1/completions", {"model": "pilot", **body}, 400)["error"]
            assert error["code"] == "context_length_exceeded"

    @pytest.mark.parametrize("raw", [b"", b"{", b"[]", b'{"a": NaN}', b"[" * 100_000])
    def test_what_is_not_json(self, engine: RunningEngine, raw: bytes) -> None:
        response = engine.client.post("/v1/completions", content=raw)
        assert (response.status_code, response.json()["error"]["code"]) == (400, "invalid_json")

    def test_too_large_a_body(self, engine: RunningEngine) -> None:
        response = engine.client.post("/v1/completions", content=b" " * (5 << 20))
        assert (response.status_code, response.json()["error"]["code"]) == (413, "body_too_large")

    def test_token_ids_outside_the_vocabulary(self, engine: RunningEngine) -> None:
        error = engine.post("/v1/completions", {"model": "pilot", "prompt": [1, 10**6]}, 400)["error"]
        assert error["param"] == "prompt"

    def test_an_unknown_path(self, engine: RunningEngine) -> None:
        response = engine.client.get("/v1/nothing")
        assert (response.status_code, response.json()["error"]["code"]) == (404, "http_error")

    def test_a_fault_inside_shows_nothing_and_the_engine_lives_on(
        self, engine: RunningEngine, prompt: Prompts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        scheduler = engine.engine.schedulers["pilot"]

        def broken(*_: object) -> None:
            raise RuntimeError("a secret path /home/x")

        with monkeypatch.context() as patch:
            patch.setattr(scheduler.model, "forward", broken)
            answer = engine.post("/v1/completions", {"model": "pilot", "prompt": prompt(20)}, 500)
            assert "secret" not in json.dumps(answer)
            body = {"model": "pilot", "prompt": prompt(20), "stream": True}
            assert engine.client.post("/v1/completions", json=body).status_code == 500
        wait_until(engine.settled)
        answer = engine.complete("pilot", prompt(20), 6)
        assert_same(answer["choices"][0]["token_ids"], engine.alone("pilot", prompt(20), 6))

    def test_a_fault_in_mid_stream_never_looks_finished(
        self, engine: RunningEngine, prompt: Prompts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        model, calls = engine.engine.schedulers["pilot"].model, []
        whole = model.forward

        def breaks_later(*given: Any) -> Any:
            calls.append(1)
            if len(calls) > 4:
                raise RuntimeError("broken")
            return whole(*given)

        body = {"model": "pilot", "prompt": prompt(20), "max_tokens": 30, "ignore_eos": True, "stream": True}
        with monkeypatch.context() as patch:
            patch.setattr(model, "forward", breaks_later)
            with httpx.Client(base_url=engine.url, timeout=150) as client:
                text = client.post("/v1/completions", json=body).text
                # The connection lives on, as its headers promised: a reset here would hit the next request.
                time.sleep(0.2)
                kept = client._transport._pool.connections
                assert [c.is_available() and not c.has_expired() for c in kept] == [True]
        assert "[DONE]" not in text
        objects = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line]
        assert objects[-1]["error"]["code"] == "engine_error"
        assert all(c["finish_reason"] is None for o in objects[:-1] for c in o["choices"])
        wait_until(engine.settled)


class TestReports:
    def test_models(self, engine: RunningEngine) -> None:
        found = engine.client.get("/v1/models").json()
        assert found["engine"] == "lifeboat-reference"
        assert {m["id"] for m in found["data"]} == {"pilot", "target"}
        for model in found["data"]:
            assert model["engine"] == "lifeboat-reference"
            assert (model["dtype"], model["device"], model["development"]) == ("float32", "cpu", True)
            assert len(model["weights_sha256"]) == 64

    def test_tokenize(self, engine: RunningEngine) -> None:
        chat = {"model": "pilot", "messages": [{"role": "user", "content": "hello"}]}
        found = engine.post("/tokenize", chat)
        assert found["count"] == len(found["tokens"])
        assert found["max_model_len"] == engine.engine.models["pilot"].max_model_len
        answer = engine.post("/v1/chat/completions", {**chat, "max_tokens": 1, "return_token_ids": True})
        assert answer["prompt_token_ids"] == found["tokens"]
        text = engine.post("/tokenize", {"model": "pilot", "prompt": "hello", "return_token_strs": True})
        assert len(text["token_strs"]) == text["count"]

    def test_metrics_and_memory(self, engine: RunningEngine, prompt: Prompts) -> None:
        engine.complete("pilot", prompt(20), 4)
        page = engine.client.get("/metrics").text
        for name in (
            "vllm:num_requests_running",
            "vllm:num_requests_waiting",
            "vllm:kv_cache_usage_perc",
            "vllm:prompt_tokens_total",
            "vllm:generation_tokens_total",
            "vllm:prefix_cache_queries_total",
            "vllm:prefix_cache_hits_total",
            "vllm:request_success_total",
            "vllm:time_to_first_token_seconds_bucket",
        ):
            assert f'{name}{{model_name="pilot"' in page, name
        for line in page.splitlines():
            assert line.startswith("#") or math.isfinite(float(line.rsplit(" ", 1)[1]))
        wait_until(engine.settled)
        memory = engine.client.get("/helm/memory").json()
        for model in memory["models"].values():
            assert model["kv_used_bytes"] == 0
            assert model["kv_available_bytes"] == model["kv_budget_bytes"]
            assert model["weights_bytes"] > 0
        assert memory["staging"]["used_bytes"] == 0

    def test_timing_is_in_the_answer(self, engine: RunningEngine, prompt: Prompts) -> None:
        timing = engine.complete("pilot", prompt(20), 4)["helm_timing"]
        assert 0 <= timing["queue_ms"] <= timing["first_token_ms"]
        assert 0 < timing["prefill_ms"] <= timing["first_token_ms"]
