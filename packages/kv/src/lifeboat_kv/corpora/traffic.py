"""Whether a corpus looks like traffic: the chat template and long sequences have to be in it."""

from __future__ import annotations

from typing import Any

from .sequence import Note, Sequence

_LEAST_SHARE = 0.05
_LONG = 0.75


def traffic_notes(rows: list[Sequence], tokenizer: Any, seq_len: int) -> list[Note]:
    """What is missing from `rows`, the probes of the gate."""
    notes = []
    if not rows:
        return notes
    marks = _template_marks(tokenizer)
    chats = sum(s.domain == "chat" or bool(marks.intersection(s.tokens[:16])) for s in rows) / len(rows)
    if getattr(tokenizer, "chat_template", None) and chats < _LEAST_SHARE:
        notes.append(
            Note(
                "NO_CHAT",
                f"{chats:.0%} of the probes are chats in the model's template: where its traffic is chats, "
                "the score is of something else; a .jsonl with messages has them",
            )
        )
    long = sum(len(s.tokens) >= _LONG * seq_len for s in rows) / len(rows)
    if long < _LEAST_SHARE:
        notes.append(
            Note(
                "NO_LONG",
                f"{long:.0%} of the probes are longer than {_LONG:.0%} of {seq_len} tokens: the score says "
                "little about long prompts; give longer documents, or a smaller --seq-len",
            )
        )
    return notes


def _template_marks(tokenizer: Any) -> set[int]:
    """Special tokens, BOS aside, that a chat's first turn begins with."""
    from ..models.chat_template import template_head

    if not getattr(tokenizer, "chat_template", None):
        return set()
    special = set(getattr(tokenizer, "all_special_ids", ()) or ())
    special |= set(getattr(tokenizer, "added_tokens_decoder", {}) or {})
    return special.intersection(template_head(tokenizer)) - {tokenizer.bos_token_id}
