"""Prefix perplexity: how well a model goes on with a text whose first part reached it as a cache.

Definition. A text is cut once, at the white space nearest its middle (in characters): the *prefix* and the
*rest*. Only the rest is scored. It is scored in chunks of at most W / 2 tokens, W the window (the model's
context or 2,048, whichever is less); the context of a chunk are the W / 2 tokens of the text before it, so
that the first chunk continues the prefix. Each context is read by the pilot and carried across but for the
exact tail; the target computes the tail and scores the chunk on top. Natively the model reads the context
itself. Word perplexity is exp(-sum of log-likelihoods / words), words being the rest's, split at white space.

It is not the perplexity of the whole document, and must not be compared with that.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

LONGEST_WINDOW = 2048
Tokens = tuple[int, ...]


def split_text(text: str) -> tuple[str, str]:
    """(prefix, rest) at the white space nearest the middle; the rest starts with that white space.

    Errors: ValueError where the text has no white space between two words.
    """
    text = text.strip()
    spaces = [match.start() for match in re.finditer(r"\s+", text)]
    if not spaces:
        raise ValueError("a text of one word has no prefix to carry across")
    at = min(spaces, key=lambda place: (abs(place - len(text) / 2), place))
    return text[:at], text[at:]


def chunks(prefix: Sequence[int], rest: Sequence[int], window: int) -> list[tuple[Tokens, Tokens]]:
    """(context, continuation) tokens that together score every token of `rest` once.

    Errors: ValueError for an empty prefix or a window under two tokens.
    """
    half = window // 2
    if not prefix or half < 1:
        raise ValueError("prefix perplexity needs a prefix and a window of two tokens")
    whole = [*prefix, *rest]
    found = []
    for start in range(len(prefix), len(whole), half):
        found.append((tuple(whole[max(0, start - half) : start]), tuple(whole[start : start + half])))
    return found


def process_results(doc: dict[str, Any], results: list[float]) -> dict[str, tuple[float, int]]:
    """The harness's hook: log-likelihood of the rest of `doc["text"]` with its words and bytes."""
    _, rest = split_text(doc["text"])
    (loglikelihood,) = results
    size = len(rest.encode("utf-8"))
    return {
        "word_perplexity": (loglikelihood, len(rest.split())),
        "byte_perplexity": (loglikelihood, size),
        "bits_per_byte": (loglikelihood, size),
    }
