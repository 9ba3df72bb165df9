"""Against the gateway before the reference engine with the bundled pair."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from .conftest import say

MODELS = ("pilot", "target", "helm-auto")


@pytest.mark.parametrize("model", MODELS)
def test_chat_whole_and_streamed(client: openai.OpenAI, model: str) -> None:
    asked = {"model": model, "messages": say("sort: 7 3 9 1"), "max_tokens": 12, "temperature": 0}
    whole = client.chat.completions.create(**asked, logprobs=True, top_logprobs=2)
    choice = whole.choices[0]
    assert choice.finish_reason in ("stop", "length")
    assert len(choice.logprobs.content) == whole.usage.completion_tokens
    assert all(len(entry.top_logprobs) == 2 for entry in choice.logprobs.content)
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + whole.usage.completion_tokens
    stream = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == choice.message.content
    assert chunks[-1].choices == []
    # How much of the prompt was remembered may differ; what was counted may not.
    said, counted = chunks[-1].usage, whole.usage
    assert (said.prompt_tokens, said.completion_tokens) == (counted.prompt_tokens, counted.completion_tokens)


@pytest.mark.parametrize("model", MODELS)
def test_completions_whole_and_streamed(client: openai.OpenAI, model: str) -> None:
    asked = {"model": model, "prompt": "copy: red blue", "max_tokens": 8, "temperature": 0}
    whole = client.completions.create(**asked, logprobs=2)
    assert len(whole.choices[0].logprobs.tokens) == whole.usage.completion_tokens
    assert all(len(top) >= 2 for top in whole.choices[0].logprobs.top_logprobs)
    streamed = client.completions.create(**asked, stream=True)
    assert "".join(chunk.choices[0].text for chunk in streamed) == whole.choices[0].text


@pytest.mark.parametrize("model", MODELS)
def test_several_answers(client: openai.OpenAI, model: str) -> None:
    asked = {"model": model, "messages": say("a story"), "max_tokens": 8, "n": 3, "seed": 5}
    answer = client.chat.completions.create(**asked, temperature=1.3)
    assert [choice.index for choice in answer.choices] == [0, 1, 2]
    assert answer.usage.completion_tokens <= 24
    seen: dict[int, Any] = {}
    for chunk in client.chat.completions.create(**asked, temperature=1.3, stream=True):
        for choice in chunk.choices:
            seen[choice.index] = choice.finish_reason or seen.get(choice.index)
    assert sorted(seen) == [0, 1, 2]
    assert all(reason in ("stop", "length") for reason in seen.values())


@pytest.mark.parametrize("model", MODELS)
def test_stop(client: openai.OpenAI, model: str) -> None:
    asked = {
        "model": model,
        "messages": say("sort: 7 3 9 1"),
        "max_tokens": 16,
        "temperature": 0,
        "extra_body": {"ignore_eos": True},
    }
    text = client.chat.completions.create(**asked).choices[0].message.content
    # A mark from its middle, at its first place: the answer must end before it.
    mark = text[len(text) // 2 : len(text) // 2 + 2]
    stopped = client.chat.completions.create(**asked, stop=[mark])
    assert stopped.choices[0].message.content == text[: text.index(mark)]
    assert stopped.choices[0].finish_reason == "stop"
    streamed = client.chat.completions.create(**asked, stop=mark, stream=True)
    said = "".join(chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices)
    assert said == text[: text.index(mark)]


def test_models(client: openai.OpenAI) -> None:
    assert set(MODELS) <= {model.id for model in client.models.list()}


def test_refusals_arrive_as_their_classes(client: openai.OpenAI) -> None:
    stranger = client.with_options(api_key="hlm_nobody")
    with pytest.raises(openai.AuthenticationError) as unknown:
        stranger.chat.completions.create(model="pilot", messages=say("x"))
    assert unknown.value.status_code == 401
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="nobody", messages=say("x"))
    assert missing.value.code == "model_not_found"
    for model in MODELS:
        with pytest.raises(openai.BadRequestError) as bad:
            client.chat.completions.create(model=model, messages=say("x"), temperature=9)
        assert bad.value.param == "temperature"
    with pytest.raises(openai.BadRequestError) as kept:
        client.chat.completions.create(model="pilot", messages=say("x"), extra_body={"cache_salt": "mine"})
    assert kept.value.param == "cache_salt"
    with pytest.raises(openai.APIStatusError) as large:
        client.chat.completions.create(model="pilot", messages=say("x"), max_tokens=10**7)
    assert large.value.status_code == 413


def test_leaving_a_stream_in_the_middle(client: openai.OpenAI) -> None:
    for model in MODELS:
        stream = client.chat.completions.create(
            model=model,
            messages=say("on and on"),
            max_tokens=3000,
            stream=True,
            extra_body={"ignore_eos": True},
        )
        assert next(iter(stream)).choices
        stream.close()


def test_while_full_it_is_a_rate_limit(client: openai.OpenAI) -> None:
    with pytest.raises(openai.RateLimitError) as full:
        client.chat.completions.create(model="target", messages=say("x"), max_tokens=4)
    assert full.value.code == "kv_memory_short"
    assert full.value.body["helm"]["retry_after_ms"] > 0
    assert int(full.value.response.headers["retry-after"]) >= 1
