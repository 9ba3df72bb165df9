"""What a sequence takes in memory while it is transferred, by the token."""

from __future__ import annotations

from ..errors import UsageError
from ..models.side import Side
from ..rotation.rope import context_tokens
from .points import ANSWER_TOKENS

# Caches held at once in terms of the target's own: it, the mapped content, an arm, and what made it.
_TARGET_CACHES = 4
_ACTIVATIONS = 8
# The most that is taken where no model says its context; packages/contracts holds requests to it too.
LONGEST_SEQ_LEN = 1 << 20


def bytes_a_token(source: Side, target: Side) -> int:
    """An upper estimate for one sequence: both models' caches in float32, and one layer's activations."""
    caches = _cache_width(source) + _TARGET_CACHES * _cache_width(target)
    widest = max(
        getattr(s.model.config, "intermediate_size", 0) + s.model.config.hidden_size for s in (source, target)
    )
    return 4 * (caches + _ACTIVATIONS * widest)


def shared_context(source: Side, target: Side) -> int | None:
    """Tokens that both models and their rotary frequencies can hold; None where neither says."""
    contexts = [context_tokens(s.model, s.rope) for s in (source, target)]
    return min((c for c in contexts if c), default=None)


def check_reach(longest: int, source: Side, target: Side) -> None:
    """Sequences of at most `longest` tokens and an answer after them must fit into both models.

    Past its context a model answers too, only not as it was trained to. Errors: UsageError BAD_SEQ_LEN.
    """
    context = shared_context(source, target)
    if context is not None and longest + ANSWER_TOKENS > context:
        most = context - ANSWER_TOKENS
        raise UsageError(
            "BAD_SEQ_LEN",
            f"sequences of {longest} tokens and answers after them exceed the context of {context} tokens: "
            f"use --seq-len {most}",
        )


def check_seq_len(seq_len: int, context: int | None) -> None:
    """`seq_len` as it was asked for must lie in `context` (None: unsaid), however short the texts are.

    Errors: UsageError BAD_SEQ_LEN.
    """
    most = min(LONGEST_SEQ_LEN, context or LONGEST_SEQ_LEN)
    if seq_len > most:
        raise UsageError(
            "BAD_SEQ_LEN",
            f"--seq-len {seq_len} is beyond the {most} tokens that both models can hold: "
            f"use at most {max(1, most - ANSWER_TOKENS)}, which leaves room for answers",
        )


def _cache_width(side: Side) -> int:
    """Numbers a token's keys and values take in all layers."""
    config = side.model.config
    heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
    d = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    return 2 * config.num_hidden_layers * heads * d
