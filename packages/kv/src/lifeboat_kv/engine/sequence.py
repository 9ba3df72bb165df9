"""What the step loop works on: a request, its sequences, and what they have produced so far."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from .text import TextStream


@dataclass(frozen=True)
class SamplingOptions:
    """How answer tokens are chosen. `logprobs` is the count of top entries wanted, None for none at all."""

    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_token_ids: tuple[int, ...] = ()
    include_stop: bool = False
    skip_special_tokens: bool = True
    ignore_eos: bool = False
    min_tokens: int = 0
    logprobs: int | None = None
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repetition_penalty: float = 1.0
    logit_bias: dict[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class StageOrder:
    """Keep this prompt's cache under `handle` for `ttl_ms`, for whoever shows the same `mac`.

    Rows before `start` are left out: the other model holds them.
    """

    handle: str
    mac: str
    ttl_ms: int
    start: int = 0


@dataclass(frozen=True)
class TransferOrder:
    """Start from the cache staged under `handle`, carried across by the mapper named."""

    handle: str
    mac: str
    mapper_sha256: str
    source_model: str


class SequenceState(enum.Enum):
    """A sequence's life.

    MAPPING has rows on their way from another model's cache; FORKING waits for its first sibling's prompt;
    FINISHED has given its blocks back.
    """

    MAPPING = "mapping"
    PREFILL = "prefill"
    FORKING = "forking"
    DECODE = "decode"
    FINISHED = "finished"


NEXT_STATES: dict[SequenceState, frozenset[SequenceState]] = {
    SequenceState.MAPPING: frozenset({SequenceState.PREFILL, SequenceState.FINISHED}),
    SequenceState.PREFILL: frozenset({SequenceState.MAPPING, SequenceState.DECODE, SequenceState.FINISHED}),
    SequenceState.FORKING: frozenset({SequenceState.DECODE, SequenceState.FINISHED}),
    SequenceState.DECODE: frozenset({SequenceState.FINISHED}),
    SequenceState.FINISHED: frozenset(),
}


@dataclass(frozen=True)
class TokenLogprobs:
    """The chosen token's log-probability and the most likely ones, (token id, logprob) each."""

    chosen: float
    top: tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class TokenEvent:
    """One answer token of sequence `index`; `text` may lag behind it. `finish` is set on the last one."""

    index: int
    token_id: int
    text: str
    logprobs: TokenLogprobs | None = None
    finish: str | None = None
    stop_reason: int | str | None = None


@dataclass(frozen=True)
class DoneEvent:
    """All sequences of a request have ended."""

    cached_tokens: int
    kv: dict[str, Any] | None
    timing: dict[str, float]


@dataclass(frozen=True)
class FailedEvent:
    """The engine could not go on with this request; `stopping` where it is being shut down."""

    message: str
    stopping: bool = False


Event = TokenEvent | DoneEvent | FailedEvent


@dataclass
class Request:
    """One prompt to answer `n` times. `emit` is called from the step thread's flush, never concurrently."""

    id: str
    model: str
    prompt: list[int]
    sampling: SamplingOptions
    emit: Callable[[Event], None]
    n: int = 1
    salt: str | None = None
    native_salt: str | None = None
    stage: StageOrder | None = None
    transfer: TransferOrder | None = None
    arrived: float = field(default_factory=time.perf_counter)
    admitted: float = 0.0
    prefilled: float = 0.0
    first_token: float = 0.0
    cached_tokens: int = 0
    kv: dict[str, Any] | None = None
    claimed: Any = None
    installation: Any = None
    installed: float = 0.0
    passed: int = 0
    sequences: list[Sequence] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        """Whether every sequence has ended."""
        return all(seq.state is SequenceState.FINISHED for seq in self.sequences)

    @property
    def kv_tokens(self) -> int:
        """Rows of cache one sequence may come to hold; the last answer token needs none."""
        return len(self.prompt) + self.sampling.max_tokens - 1

    def timing(self) -> dict[str, float]:
        """Milliseconds: waiting for a place, until the prompt was computed, until the first token left."""
        return {
            "queue_ms": _ms(self.admitted - self.arrived),
            "prefill_ms": _ms(self.prefilled - self.admitted),
            "first_token_ms": _ms(self.first_token - self.arrived),
        }


@dataclass
class Sequence:
    """One answer in the making: `tokens` are prompt and answer, rows below `computed` lie in `blocks`."""

    request: Request
    index: int
    tokens: list[int]
    blocks: list[int]
    stream: TextStream
    state: SequenceState
    computed: int = 0
    mapped: bool = False
    named: int = 0
    name: bytes = b""
    ends: frozenset[int] = frozenset()
    generator: torch.Generator | None = None
    first_token: float = 0.0
    last_token: float = 0.0

    @property
    def produced(self) -> int:
        """Answer tokens so far."""
        return len(self.tokens) - len(self.request.prompt)

    @property
    def pending(self) -> int:
        """Tokens whose rows are not in the cache yet."""
        return len(self.tokens) - self.computed

    def move_to(self, state: SequenceState) -> None:
        """Changes state. Errors: RuntimeError for a step the table does not allow."""
        if state not in NEXT_STATES[self.state]:
            raise RuntimeError(f"a sequence cannot go from {self.state.value} to {state.value}")
        self.state = state


def _ms(seconds: float) -> float:
    return round(max(0.0, seconds) * 1000, 3)
