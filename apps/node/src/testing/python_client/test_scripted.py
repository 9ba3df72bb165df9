"""Against the gateway before a scripted engine, a test double: what is more than text arrives as it was said.

What the engine says is in apps/node/src/gateway/pass-through.test.ts, which runs this file.
"""

from __future__ import annotations

import json

import openai
import pytest

from .conftest import say

LOOK = {
    "type": "function",
    "function": {
        "name": "look_up",
        "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
    },
}


@pytest.mark.parametrize("model", ["target", "helm-auto"])
class TestPassedThrough:
    def test_tools(self, client: openai.OpenAI, model: str) -> None:
        asked = {"model": model, "messages": say("use tools"), "tools": [LOOK], "tool_choice": "auto"}
        answer = client.chat.completions.create(**asked).choices[0]
        assert answer.finish_reason == "tool_calls"
        assert [json.loads(call.function.arguments) for call in answer.message.tool_calls] == [
            {"place": "Köln"},
            {"place": "Ōsaka"},
        ]
        with client.chat.completions.stream(**asked) as stream:
            final = stream.get_final_completion().choices[0]
        assert [c.function.arguments for c in final.message.tool_calls] == [
            c.function.arguments for c in answer.message.tool_calls
        ]

    def test_json_mode(self, client: openai.OpenAI, model: str) -> None:
        form = {"type": "json_object"}
        answer = client.chat.completions.create(
            model=model, messages=say("use json"), response_format=form
        )
        assert json.loads(answer.choices[0].message.content) == {"ok": True, "names": ["ä", "b"]}

    def test_reasoning(self, client: openai.OpenAI, model: str) -> None:
        asked = {"model": model, "messages": say("think"), "reasoning_effort": "low"}
        message = client.chat.completions.create(**asked).choices[0].message
        assert (message.reasoning_content, message.content) == ("let me see", "four")
        parts = [chunk.choices[0].delta for chunk in client.chat.completions.create(**asked, stream=True)]
        assert "".join(getattr(part, "reasoning_content", None) or "" for part in parts) == "let me see"
        assert "".join(part.content or "" for part in parts) == "four"
