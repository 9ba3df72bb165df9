"""The exact tail: how many of the last prompt tokens the target computes itself."""

from __future__ import annotations

TAIL_DIVISOR = 20
TAIL_MAXIMUM = 64


def tail_length(prefix: int) -> int:
    """Tokens of a prefix of `prefix` tokens that the target computes on top of the mapped cache.

    At most 5 % of the prefix, at least the one token whose logits start the answer, never above 64.
    The score and every serving path call this one function. Errors: ValueError below one token.
    """
    if prefix < 1:
        raise ValueError(f"a prefix has at least one token, not {prefix}")
    return min(TAIL_MAXIMUM, max(1, prefix // TAIL_DIVISOR))
