"""Chats of a corpus as user turns in tokens, ready to be answered by models one turn after another."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import CorpusError, UsageError

_ASKED, _SAID, _ASKED_AGAIN = "helm1ask", "helm2say", "helm3ask"


@dataclass(frozen=True)
class Conversation:
    """`turns[i]` are the tokens that lead from answer i - 1 to answer i: closing it, asking, opening."""

    id: str
    turns: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class _Template:
    """What a chat template writes around contents: before the first, before an answer, between turns."""

    start: str
    opening: str
    answer: str
    between: str

    @classmethod
    def of(cls, tokenizer: Any) -> _Template:
        """Errors: UsageError NO_CHAT_TEMPLATE."""
        if not getattr(tokenizer, "chat_template", None):
            raise UsageError(
                "NO_CHAT_TEMPLATE", "the tokenizer has no chat template to hold a conversation by"
            )

        def rendered(*contents: str, opened: bool = False) -> str:
            roles = ("user", "assistant", "user")
            chat = [{"role": r, "content": c} for r, c in zip(roles, contents, strict=False)]
            return str(tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=opened))

        start, opening = rendered(_ASKED, opened=True).split(_ASKED)
        whole = rendered(_ASKED, _SAID, _ASKED_AGAIN, opened=True)
        answer = whole.split(_ASKED)[1].split(_SAID)[0]
        return cls(start, opening, answer, whole.split(_SAID)[1].split(_ASKED_AGAIN)[0])


def conversations(file: Path, tokenizer: Any, turns: int, most: int) -> list[Conversation]:
    """The first `most` chats of `file` with at least `turns` user turns, cut to so many, in file order.

    `file` is .jsonl of {"id", "messages"}, or of {"id", "text"} with the text rendered by the template.
    The corpus's own answers are left out. Errors: CorpusError TOKENS_UNREADABLE, CHATS_TOO_SHORT.
    """
    template = _Template.of(tokenizer)
    found = []
    for identifier, asked in _chats(file, template):
        if len(asked) < turns:
            continue
        texts = [template.start + asked[0] + template.opening]
        texts += [template.between + text + template.opening for text in asked[1:turns]]
        encoded = tokenizer(texts, add_special_tokens=False)["input_ids"]
        found.append(Conversation(identifier, tuple(tuple(ids) for ids in encoded)))
        if len(found) == most:
            break
    if not found:
        raise CorpusError("CHATS_TOO_SHORT", f"{file} holds no chat of {turns} user turns: give another file")
    return found


def _chats(file: Path, template: _Template) -> Iterator[tuple[str, list[str]]]:
    try:
        with open(file, encoding="utf-8") as lines:
            for number, line in enumerate(lines):
                row = json.loads(line)
                identifier = str(row.get("id", number))
                if "messages" in row:
                    yield identifier, [m["content"] for m in row["messages"] if m["role"] == "user"]
                else:
                    yield identifier, _asked(row["text"], template)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CorpusError("TOKENS_UNREADABLE", f"{file} cannot be read as chats: {error}") from error


def _asked(text: str, template: _Template) -> list[str]:
    """User contents of a rendered chat; the last may lack its answer. [] where it is no such chat."""
    if not text.startswith(template.start):
        return []
    parts = text[len(template.start) :].split(template.between)
    return [part.split(template.answer)[0].rstrip() for part in parts if template.answer in part]
