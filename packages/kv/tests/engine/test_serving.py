"""Answers over HTTP: batched as alone, streamed as whole, and everything a client may ask for."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .harness import RunningEngine, assert_same, running, wait_until

Prompts = Callable[..., list[int]]


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
        reference = engine.past_ends(model, tokens, 24)
        assert_same(answer["choices"][0]["token_ids"], reference)


def test_a_prompt_in_chunks_beside_decoding_rows(folders: dict[str, Path], prompt: Prompts) -> None:
    with running(folders, folders["pilot"], step_tokens=48) as small, ThreadPoolExecutor(4) as pool:
        tokens = [prompt(n, seed=200 + n) for n in (900, 30, 250, 7)]
        answers = list(pool.map(lambda t: small.complete("target", t, 16, ignore_eos=True), tokens))
        for given, answer in zip(tokens, answers, strict=True):
            assert_same(answer["choices"][0]["token_ids"], small.past_ends("target", given, 16))


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


def test_special_tokens_are_text_only_where_asked_for(engine: RunningEngine, prompt: Prompts) -> None:
    end = next(iter(engine.engine.models["pilot"].ends))
    asked = {"logit_bias": {str(end): 100}, "return_token_ids": True}
    hidden = engine.complete("pilot", prompt(9), 4, **asked)["choices"][0]
    assert (hidden["text"], hidden["token_ids"], hidden["finish_reason"]) == ("", [end], "stop")
    shown = engine.complete("pilot", prompt(9), 4, **asked, skip_special_tokens=False)["choices"][0]
    assert shown["text"] == engine.engine.models["pilot"].tokenizer.decode([end])


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
                assert_same(answer["choices"][0]["token_ids"], small.past_ends("pilot", tokens, 20))
            assert small.engine.schedulers["pilot"].cache.evicted_blocks > 0
            wait_until(small.settled)
            refused = small.post("/v1/completions", {"model": "pilot", "prompt": prompt(400)}, 413)
            assert refused["error"]["code"] == "never_fits"
