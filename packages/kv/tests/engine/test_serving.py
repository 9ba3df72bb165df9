"""Answers over HTTP: batched as alone, streamed as whole, and everything a client may ask for."""

from __future__ import annotations

import asyncio
import json
import math
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from lifeboat_kv.engine.generate import StreamWriter

from .harness import RunningEngine, assert_same, running

Prompts = Callable[..., list[int]]


def wait_until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Polls until a condition holds."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never became true"
        time.sleep(0.01)


def test_many_at_once_say_what_each_says_alone(engine: RunningEngine, prompt: Prompts) -> None:
    lengths = [1, 2, 15, 16, 17, 31, 33, 64, 100, 200, 700, 5, 9, 40, 41, 42]
    jobs = [("pilot" if i % 3 else "target", prompt(n, seed=100 + i)) for i, n in enumerate(lengths)]
    metrics = engine.engine.schedulers["pilot"].metrics
    before = (metrics.decode_rows.value, metrics.decode_steps.value)
    with ThreadPoolExecutor(len(jobs)) as pool:
        answers = list(pool.map(lambda job: engine.complete(job[0], job[1], 24, ignore_eos=True), jobs))
    rows, steps = metrics.decode_rows.value - before[0], metrics.decode_steps.value - before[1]
    assert rows / steps > 2, "requests were not batched"
    for (model, tokens), answer in zip(jobs, answers, strict=True):
        reference = decode_on(engine, model, tokens, 24)
        assert_same(answer["choices"][0]["token_ids"], reference)


def decode_on(engine: RunningEngine, model: str, tokens: list[int], count: int) -> dict[str, Any]:
    """Greedy decode through transformers, going on past end tokens."""
    from lifeboat_kv.decode import decode

    return decode(tokens, engine.plain[model], frozenset(), count)


def test_a_prompt_in_chunks_beside_decoding_rows(folders: dict[str, Path], prompt: Prompts) -> None:
    with running(folders, folders["pilot"], step_tokens=48) as small, ThreadPoolExecutor(4) as pool:
        tokens = [prompt(n, seed=200 + n) for n in (900, 30, 250, 7)]
        answers = list(pool.map(lambda t: small.complete("target", t, 16, ignore_eos=True), tokens))
        for given, answer in zip(tokens, answers, strict=True):
            assert_same(answer["choices"][0]["token_ids"], decode_on(small, "target", given, 16))


def test_stream_equals_whole(engine: RunningEngine) -> None:
    body = {
        "model": "pilot",
        "messages": [{"role": "user", "content": "Once there was a small füße 漢字 🙂 and"}],
        "max_tokens": 40,
        "temperature": 1.4,
        "seed": 11,
        "n": 2,
        "logprobs": True,
        "top_logprobs": 2,
        "return_token_ids": True,
        "ignore_eos": True,
    }
    whole = engine.post("/v1/chat/completions", body)
    chunks = engine.events("/v1/chat/completions", {**body, "stream_options": {"include_usage": True}})
    assert chunks[0]["prompt_token_ids"] == whole["prompt_token_ids"]
    for index in range(2):
        parts = [c for chunk in chunks for c in chunk["choices"] if c["index"] == index]
        expected = whole["choices"][index]
        assert "".join(p["delta"].get("content") or "" for p in parts) == expected["message"]["content"]
        assert [t for p in parts for t in p.get("token_ids") or ()] == expected["token_ids"]
        said = [entry for p in parts if p["logprobs"] for entry in p["logprobs"]["content"]]
        assert [e["token"] for e in said] == [e["token"] for e in expected["logprobs"]["content"]]
        assert parts[-1]["finish_reason"] == expected["finish_reason"]
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["completion_tokens"] == whole["usage"]["completion_tokens"] == 80


def test_logprobs_are_the_models_own(engine: RunningEngine, prompt: Prompts) -> None:
    import torch

    tokens = prompt(30, seed=3)
    answer = engine.complete("pilot", tokens, 5, logprobs=2, ignore_eos=True)
    choice = answer["choices"][0]
    with torch.no_grad():
        ids = torch.tensor([[*tokens, *choice["token_ids"]]])
        rows = engine.plain["pilot"](ids).logits[0, 29:-1].log_softmax(-1)
    for position, token in enumerate(choice["token_ids"]):
        assert choice["logprobs"]["token_logprobs"][position] == pytest.approx(
            float(rows[position, token]), abs=1e-4
        )
        top = sorted(choice["logprobs"]["top_logprobs"][position].values(), reverse=True)
        assert top == pytest.approx(rows[position].topk(2).values.tolist(), abs=1e-4)


def test_n_and_seed(engine: RunningEngine, prompt: Prompts) -> None:
    tokens = prompt(21)
    asked = {"n": 4, "temperature": 1.0, "seed": 5}
    first = engine.complete("pilot", tokens, 12, **asked)
    second = engine.complete("pilot", tokens, 12, **asked)
    said = [c["token_ids"] for c in first["choices"]]
    assert said == [c["token_ids"] for c in second["choices"]]
    assert len({tuple(s) for s in said}) > 1
    assert first["usage"]["prompt_tokens"] == 21
    greedy = engine.complete("pilot", tokens, 12, n=3)
    reference = engine.alone("pilot", tokens, 12)
    for choice in greedy["choices"]:
        assert_same(choice["token_ids"], reference)


def test_stop_strings_cut_the_text_wherever_tokens_end(engine: RunningEngine, prompt: Prompts) -> None:
    tokens = prompt(40, seed=8)
    plain = engine.complete("pilot", tokens, 30, ignore_eos=True)["choices"][0]
    text = plain["text"]
    stop = text[len(text) // 2 : len(text) // 2 + 3]
    cut = text.index(stop)
    stopped = engine.complete("pilot", tokens, 30, ignore_eos=True, stop=["\0never", stop])["choices"][0]
    assert (stopped["text"], stopped["finish_reason"]) == (text[:cut], "stop")
    assert stopped["stop_reason"] == stop
    assert plain["token_ids"][: len(stopped["token_ids"])] == stopped["token_ids"]
    kept = engine.complete("pilot", tokens, 30, ignore_eos=True, stop=stop, include_stop_str_in_output=True)[
        "choices"
    ][0]
    assert kept["text"] == text[: cut + len(stop)]
    body = {"model": "pilot", "prompt": tokens, "max_tokens": 30, "temperature": 0, "ignore_eos": True}
    streamed = engine.events("/v1/completions", {**body, "stop": stop})
    assert "".join(c["text"] for chunk in streamed for c in chunk["choices"]) == text[:cut]


def test_stop_token_ids_and_min_tokens(engine: RunningEngine, prompt: Prompts) -> None:
    tokens = prompt(25, seed=4)
    said = engine.complete("pilot", tokens, 10, ignore_eos=True)["choices"][0]["token_ids"]
    at = next(i for i in range(1, 10) if said[i] not in said[:i])
    short = engine.complete("pilot", tokens, 10, ignore_eos=True, stop_token_ids=[said[at]])["choices"][0]
    assert short["token_ids"] == said[: at + 1]
    assert (short["finish_reason"], short["stop_reason"]) == ("stop", said[at])
    longer = engine.complete(
        "pilot", tokens, 10, ignore_eos=True, stop_token_ids=[said[at]], min_tokens=at + 2
    )["choices"][0]
    assert len(longer["token_ids"]) >= at + 2
    assert said[at] not in longer["token_ids"][: at + 1]


def test_several_prompts_in_one_call(engine: RunningEngine, prompt: Prompts) -> None:
    prompts = [prompt(12, seed=1), prompt(30, seed=2)]
    body = {"model": "target", "prompt": prompts, "n": 2, "max_tokens": 5, "temperature": 0}
    answer = engine.post("/v1/completions", {**body, "return_token_ids": True})
    assert [c["index"] for c in answer["choices"]] == [0, 1, 2, 3]
    for choice, tokens in zip(answer["choices"], [prompts[0]] * 2 + [prompts[1]] * 2, strict=True):
        assert choice["prompt_token_ids"] == tokens
        assert_same(choice["token_ids"], engine.alone("target", tokens, 5))
    chunks = engine.events("/v1/completions", {**body, "return_token_ids": True})
    for choice in answer["choices"]:
        said = [
            t for c in chunks for p in c["choices"] if p["index"] == choice["index"] for t in p["token_ids"]
        ]
        assert said == choice["token_ids"]


class TestPrefixCache:
    def test_the_same_salt_hits_and_another_does_not(self, engine: RunningEngine, prompt: Prompts) -> None:
        tokens = prompt(70, seed=30)
        cached = []
        for salt in ("s1", "s1", "s2", "s2", None, None):
            extra = {} if salt is None else {"cache_salt": salt}
            answer = engine.complete("pilot", tokens, 8, **extra)
            cached.append(answer["usage"]["prompt_tokens_details"]["cached_tokens"])
            assert_same(answer["choices"][0]["token_ids"], engine.alone("pilot", tokens, 8))
        assert cached == [0, 64, 0, 64, 0, 64]

    def test_an_answer_is_found_by_the_next_turn(self, engine: RunningEngine, prompt: Prompts) -> None:
        tokens = prompt(33, seed=31)
        first = engine.complete("target", tokens, 32, ignore_eos=True, cache_salt="turns")
        longer = [*tokens, *first["choices"][0]["token_ids"], *prompt(9, seed=32)]
        second = engine.complete("target", longer, 8, cache_salt="turns")
        assert second["usage"]["prompt_tokens_details"]["cached_tokens"] == 64
        assert_same(second["choices"][0]["token_ids"], engine.alone("target", longer, 8))

    def test_a_small_budget_evicts_and_still_answers(self, folders: dict[str, Path], prompt: Prompts) -> None:
        one = {"pilot": folders["pilot"]}
        with running(one, folders["pilot"], kv_budget=5120 * 16 * 20) as small, ThreadPoolExecutor(8) as pool:
            jobs = [prompt(60, seed=300 + i) for i in range(24)]
            answers = list(pool.map(lambda t: small.complete("pilot", t, 20, ignore_eos=True), jobs))
            for tokens, answer in zip(jobs, answers, strict=True):
                assert_same(answer["choices"][0]["token_ids"], decode_on(small, "pilot", tokens, 20))
            assert small.engine.schedulers["pilot"].cache.evicted_blocks > 0
            wait_until(small.settled)
            refused = small.post("/v1/completions", {"model": "pilot", "prompt": prompt(400)}, 413)
            assert refused["error"]["code"] == "never_fits"


class TestLeaving:
    def test_a_closed_stream_frees_its_place(self, engine: RunningEngine, prompt: Prompts) -> None:
        body = {
            "model": "pilot",
            "prompt": prompt(50),
            "max_tokens": 6000,
            "ignore_eos": True,
            "stream": True,
        }
        with engine.client.stream("POST", "/v1/completions", json=body) as response:
            lines = response.iter_lines()  # kept: a collected iterator closes its response
            next(lines)
            assert engine.engine.schedulers["pilot"].running
        wait_until(engine.settled)

    def test_a_dropped_connection_frees_its_place(self, engine: RunningEngine, prompt: Prompts) -> None:
        body = json.dumps({"model": "target", "prompt": prompt(50), "max_tokens": 6000, "ignore_eos": True})
        host, port = engine.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as raw:
            head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            raw.sendall((head + body).encode())
            wait_until(lambda: bool(engine.engine.schedulers["target"].running))
        wait_until(engine.settled)

    def test_a_client_that_does_not_read_is_cut_off(self) -> None:
        """Its socket never takes the bytes: the write ends in time, and the transport is torn down."""
        torn = []
        transport: Any = SimpleNamespace(abort=lambda: torn.append(True))
        response: Any = SimpleNamespace(write=lambda data: asyncio.sleep(60))
        reply: Any = SimpleNamespace(chat=True, role_chunk=lambda: {"choices": []})
        call: Any = SimpleNamespace(reply=reply)

        async def flush() -> None:
            writer = StreamWriter(call, response, transport, 0.05)
            writer.open()
            await writer.flush()

        with pytest.raises(ConnectionResetError):
            asyncio.run(flush())
        assert torn == [True]

    def test_who_leaves_while_waiting_is_forgotten(self, folders: dict[str, Path], prompt: Prompts) -> None:
        one = {"pilot": folders["pilot"]}
        body = {"model": "pilot", "prompt": prompt(9), "max_tokens": 4000, "ignore_eos": True, "stream": True}
        with running(one, folders["pilot"], max_batch=1) as tiny:
            waiting = tiny.engine.schedulers["pilot"].waiting
            with tiny.client.stream("POST", "/v1/completions", json=body) as first:
                lines = first.iter_lines()
                next(lines)
                with pytest.raises(httpx.ReadTimeout):
                    tiny.client.post("/v1/completions", json=body, timeout=1.0)
                wait_until(lambda: not waiting)
                assert tiny.engine.schedulers["pilot"].running
            wait_until(tiny.settled)

    def test_a_full_queue_is_a_typed_refusal(self, folders: dict[str, Path], prompt: Prompts) -> None:
        one = {"pilot": folders["pilot"]}
        with (
            running(one, folders["pilot"], max_batch=1, max_waiting=1) as tiny,
            ThreadPoolExecutor(12) as pool,
        ):
            body = {"model": "pilot", "prompt": prompt(9), "max_tokens": 24, "ignore_eos": True}
            codes = list(pool.map(lambda _: tiny.client.post("/v1/completions", json=body), range(12)))
            assert {r.status_code for r in codes} == {200, 503}
            assert all(r.json()["error"]["code"] == "overloaded" for r in codes if r.status_code == 503)
            wait_until(tiny.settled)


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
            text = engine.client.post("/v1/completions", json=body).text
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
