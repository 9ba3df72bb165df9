"""Documents to token sequences: chats through the model's template, long texts in pieces, in batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CorpusError
from .document import Document
from .sequence import SHORTEST_PREFIX, Sequence

# Texts given to the tokenizer at once: enough for all of its threads.
BATCH = 64
_MOST_TURNS_CUT = 3


def sequences_of(documents: list[Document], tokenizer: Any, seq_len: int) -> list[list[Sequence]]:
    """The sequences [1 ... seq_len tokens] of every document; none where its chat cannot be rendered.

    Every sequence begins as a prompt does: with the tokenizer's own first token where it adds one, or
    with a BOS that the text spells. Errors: CorpusError NO_CHAT_TEMPLATE.
    """
    rendered = [_rendered(document, tokenizer) for document in documents]
    found: list[list[Sequence]] = [[] for _ in documents]
    bos = tokenizer.bos_token
    own = _own_start(tokenizer)
    for spelled in (False, True):
        some = [i for i, r in enumerate(rendered) if r and _spells_start(documents[i], r[0], bos) == spelled]
        for at in range(0, len(some), BATCH):
            part = some[at : at + BATCH]
            texts, cuts = zip(*(rendered[i] for i in part if rendered[i] is not None), strict=True)
            encoded = tokenizer(
                list(texts),
                add_special_tokens=not spelled,
                return_offsets_mapping=any(cuts),
                return_attention_mask=False,
                verbose=False,
            )
            for row, number in enumerate(part):
                ids = encoded["input_ids"][row]
                places: list[int] = []
                if cuts[row]:
                    # Special tokens have no place of their own: they end where the token before them does.
                    ends = np.maximum.accumulate([end for _, end in encoded["offset_mapping"][row]])
                    places = np.searchsorted(ends, cuts[row], side="right").tolist()
                start = own
                if spelled and bos and ids[:1] == [tokenizer.bos_token_id]:
                    start = (tokenizer.bos_token_id,)
                found[number] = _pieces(documents[number], ids, places, seq_len, start)
    return found


def _pieces(
    document: Document, ids: list[int], cuts: list[int], seq_len: int, start: tuple[int, ...]
) -> list[Sequence]:
    """`ids` in pieces of `seq_len`; every piece but the first gets `start` before it."""
    if tuple(ids[: len(start)]) != start:
        start = ()
    pieces = []
    at = 0
    while at < len(ids):
        lead = start if at else ()
        tokens = (*lead, *ids[at : at + seq_len - len(lead)])
        places = (cut - at + len(lead) for cut in cuts)
        inside = tuple(p for p in places if SHORTEST_PREFIX <= p <= len(tokens))
        pieces.append(Sequence(f"{document.id}#{at}" if at else document.id, document.domain, tokens, inside))
        at += len(tokens) - len(lead)
    return pieces


def _spells_start(document: Document, text: str, bos: str | None) -> bool:
    """A chat template writes its own beginning; a text may."""
    return bool(document.turns) or (bool(bos) and text.startswith(str(bos)))


def _own_start(tokenizer: Any) -> tuple[int, ...]:
    """What the tokenizer puts before any text by itself: its BOS, or nothing."""
    ids = tokenizer("")["input_ids"]
    return (int(ids[0]),) if ids and ids[0] == tokenizer.bos_token_id else ()


def _rendered(document: Document, tokenizer: Any) -> tuple[str, tuple[int, ...]] | None:
    """Text and cuts; a chat's cuts are where its last answers begin, as the gateway hands over there."""
    if not document.turns:
        return document.text, document.cuts
    if not getattr(tokenizer, "chat_template", None):
        raise CorpusError(
            "NO_CHAT_TEMPLATE",
            "the corpus holds chats and the model's tokenizer has no chat template: give a column of plain "
            "text with --corpus-column",
        )
    messages = [{"role": role, "content": content} for role, content in document.turns]
    answers = [i for i, (role, _) in enumerate(document.turns) if role == "assistant" and i]
    try:
        whole = tokenizer.apply_chat_template(messages, tokenize=False)
        befores = [
            tokenizer.apply_chat_template(messages[:i], tokenize=False, add_generation_prompt=True)
            for i in answers[-_MOST_TURNS_CUT:]
        ]
    except Exception:  # a template may raise whatever its author wrote: this chat is none of this model's
        return None
    return whole, tuple(len(before) for before in befores if whole.startswith(before))
