"""The official `openai` client, unchanged, against the engine."""

from __future__ import annotations

from collections.abc import Iterator

import openai
import pytest

from .harness import RunningEngine, wait_until

HELLO = [{"role": "user", "content": "hello"}]


@pytest.fixture
def client(engine: RunningEngine) -> Iterator[openai.OpenAI]:
    """A client without retries, so that every refusal is seen."""
    with openai.OpenAI(base_url=f"{engine.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def test_chat_whole_and_streamed(client: openai.OpenAI) -> None:
    asked = {"model": "pilot", "messages": HELLO, "max_tokens": 12, "temperature": 0}
    whole = client.chat.completions.create(**asked, logprobs=True, top_logprobs=2)
    assert whole.choices[0].finish_reason in ("stop", "length")
    assert len(whole.choices[0].logprobs.content) == whole.usage.completion_tokens
    assert len(whole.choices[0].logprobs.content[0].top_logprobs) == 2
    streamed = list(
        client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    text = "".join(chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices)
    assert text == whole.choices[0].message.content
    assert streamed[-1].usage == whole.usage


def test_completions_and_extra_fields(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model="target",
        prompt=["one two", "three"],
        max_tokens=4,
        n=2,
        seed=1,
        logprobs=1,
        extra_body={"return_token_ids": True, "cache_salt": "s"},
    )
    assert [choice.index for choice in answer.choices] == [0, 1, 2, 3]
    assert len(answer.choices[0].model_extra["token_ids"]) == len(answer.choices[0].logprobs.tokens)


def test_models(client: openai.OpenAI) -> None:
    assert {model.id for model in client.models.list()} == {"pilot", "target"}
    assert client.models.retrieve("target").id == "target"


def test_errors_arrive_as_their_classes(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.chat.completions.create(model="nobody", messages=HELLO)
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError) as bad:
        client.chat.completions.create(model="pilot", messages=HELLO, temperature=9)
    assert bad.value.param == "temperature"
    with pytest.raises(openai.BadRequestError) as long:
        client.completions.create(model="pilot", prompt="x", max_tokens=10**6)
    assert long.value.code == "context_length_exceeded"


def test_leaving_a_stream_in_the_middle(client: openai.OpenAI, engine: RunningEngine) -> None:
    stream = client.chat.completions.create(
        model="pilot", messages=HELLO, max_tokens=3000, stream=True, extra_body={"ignore_eos": True}
    )
    next(iter(stream))
    stream.close()
    wait_until(engine.settled)
