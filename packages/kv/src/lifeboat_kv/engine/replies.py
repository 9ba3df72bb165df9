"""Writing answers in OpenAI's shapes, with vLLM's extra fields."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from .schema import ReplyOptions
from .sequence import DoneEvent, Request, TokenEvent, TokenLogprobs
from .text import TokenNames


@dataclass
class Answer:
    """One sequence's answer as it grows."""

    text: str = ""
    token_ids: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprobs | None] = field(default_factory=list)
    finish: str | None = None
    stop_reason: int | str | None = None

    def add(self, event: TokenEvent) -> None:
        """Takes one token in."""
        self.text += event.text
        self.token_ids.append(event.token_id)
        self.logprobs.append(event.logprobs)
        self.finish = event.finish
        self.stop_reason = event.stop_reason


@dataclass
class Reply:
    """What all chunks or the one body of an answer have in common."""

    id: str
    model: str
    chat: bool
    options: ReplyOptions
    names: TokenNames
    requests: list[Request]
    wants_logprobs: bool
    created: int = field(default_factory=lambda: int(time.time()))

    def body(self, answers: list[list[Answer]], done: list[DoneEvent]) -> dict[str, Any]:
        """The whole non-streaming body; `answers[p][i]` is answer i of prompt p."""
        choices = []
        for p, row in enumerate(answers):
            for answer in row:
                choices.append(self._choice(len(choices), p, answer))
        out: dict[str, Any] = {
            "id": self.id,
            "object": "chat.completion" if self.chat else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
            "usage": self.usage(sum(len(a.token_ids) for row in answers for a in row), done),
            "system_fingerprint": None,
            **closing_fields(done),
        }
        if self.chat and self.options.return_token_ids:
            out["prompt_token_ids"] = self.requests[0].prompt
        return out

    def chunk(self, choices: list[dict[str, Any]], **extra: Any) -> dict[str, Any]:
        """One streamed object."""
        out = {
            "id": self.id,
            "object": "chat.completion.chunk" if self.chat else "text_completion",
            "created": self.created,
            "model": self.model,
            "choices": choices,
            "system_fingerprint": None,
        }
        if self.options.include_usage:
            out["usage"] = None
        return {**out, **extra}

    def role_chunk(self) -> dict[str, Any]:
        """A chat stream's first object."""
        n = self.requests[0].n
        choices = [
            {
                "index": i,
                "delta": {"role": "assistant", "content": ""},
                "logprobs": None,
                "finish_reason": None,
            }
            for i in range(n)
        ]
        extra = {"prompt_token_ids": self.requests[0].prompt} if self.options.return_token_ids else {}
        return self.chunk(choices, **extra)

    def token_choice(
        self, prompt: int, event: TokenEvent, answer: Answer, text_offset: int
    ) -> dict[str, Any]:
        """One token's choice in a streamed object; `answer` already holds the token."""
        index = prompt * self.requests[0].n + event.index
        part = Answer(event.text, [event.token_id], [event.logprobs])
        choice: dict[str, Any] = {"index": index}
        if self.chat:
            choice["delta"] = {"content": event.text} if event.text else {}
        else:
            choice["text"] = event.text
        choice["logprobs"] = self._logprobs(part, text_offset)
        choice["finish_reason"] = event.finish
        choice["stop_reason"] = event.stop_reason
        if self.options.return_token_ids:
            choice["token_ids"] = [event.token_id]
            if not self.chat and len(answer.token_ids) == 1:
                choice["prompt_token_ids"] = self.requests[prompt].prompt
        return choice

    def usage(self, produced: int, done: list[DoneEvent]) -> dict[str, Any]:
        """Token counts over all prompts and answers."""
        prompt = sum(len(request.prompt) for request in self.requests)
        return {
            "prompt_tokens": prompt,
            "completion_tokens": produced,
            "total_tokens": prompt + produced,
            "prompt_tokens_details": {"cached_tokens": sum(event.cached_tokens for event in done)},
        }

    def _choice(self, index: int, prompt: int, answer: Answer) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": index}
        if self.chat:
            choice["message"] = {"role": "assistant", "content": answer.text, "refusal": None}
        else:
            choice["text"] = answer.text
        choice["logprobs"] = self._logprobs(answer, 0)
        choice["finish_reason"] = answer.finish
        choice["stop_reason"] = answer.stop_reason
        if self.options.return_token_ids:
            choice["token_ids"] = answer.token_ids
            if not self.chat:
                choice["prompt_token_ids"] = self.requests[prompt].prompt
        return choice

    def _logprobs(self, answer: Answer, text_offset: int) -> dict[str, Any] | None:
        if not self.wants_logprobs:
            return None
        pairs = [(t, p) for t, p in zip(answer.token_ids, answer.logprobs, strict=True) if p is not None]
        if self.chat:
            return {"content": [self._chat_entry(token, found) for token, found in pairs], "refusal": None}
        names = [self.names.name(token)[0] for token, _ in pairs]
        offsets = [text_offset + sum(len(name) for name in names[:i]) for i in range(len(names))]
        return {
            "tokens": names,
            "token_logprobs": [found.chosen for _, found in pairs],
            "top_logprobs": [
                {self.names.name(token)[0]: value for token, value in ((own, found.chosen), *found.top)}
                for own, found in pairs
            ],
            "text_offset": offsets,
        }

    def _chat_entry(self, token: int, found: TokenLogprobs) -> dict[str, Any]:
        return {
            **self._named(token, found.chosen),
            "top_logprobs": [self._named(other, value) for other, value in found.top],
        }

    def _named(self, token: int, value: float) -> dict[str, Any]:
        text, raw = self.names.name(token)
        return {"token": text, "logprob": max(value, -9999.0), "bytes": list(raw)}


def closing_fields(done: list[DoneEvent]) -> dict[str, Any]:
    """`kv_transfer_params` and `helm_timing` of the first prompt, as body and last chunk carry them."""
    return {"kv_transfer_params": done[0].kv, "helm_timing": done[0].timing}
