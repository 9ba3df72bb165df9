"""A transfer on its way into a sequence's blocks, a slice of rows at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from .kv_pool import KvPool, slots_for
from .mappers import ResidentMapper
from .paged_rows import PagedRows
from .served_model import ServedModel
from .staging import StagedCache


@dataclass(frozen=True)
class Ready:
    """A transfer that may go ahead: rows of the first `rows` prompt tokens come from `staged`."""

    staged: StagedCache
    resident: ResidentMapper
    source: ServedModel
    rows: int


class Installation:
    """Maps target rows `start` ... `ready.rows` into the pool. `map_seconds` includes `write_seconds`."""

    def __init__(
        self, ready: Ready, target: ServedModel, pool: KvPool, blocks: Sequence[int], start: int
    ) -> None:
        self._ready, self._target, self._pool, self._blocks = ready, target, pool, blocks
        self.start = start
        self.next = start
        self.map_seconds = 0.0
        self.write_seconds = 0.0

    @property
    def stop(self) -> int:
        """The row after the last one that is in place at the end."""
        return max(self._ready.rows, self.start)

    @property
    def complete(self) -> bool:
        """Whether every row is in place."""
        return self.next >= self.stop

    @torch.inference_mode()
    def advance(self, rows: int) -> None:
        """Maps the next `rows` rows, or those that are left.

        Errors: ValueError where they are not finite. After any error the pool holds zeros for these rows.
        """
        began = time.perf_counter()
        mapper, tokens = self._ready.resident.mapper, self._ready.staged.tokens
        # The stored head is known by the tokens that start the sequence; past it rows stand alone.
        whole = self._ready.staged.start == 0 and mapper.head is not None
        head = mapper.head.match(tokens[: self._ready.rows]) if whole else 0
        first = 0 if head > self.next else self.next
        stop = min(self._ready.rows, max(self.next + rows, head))
        written = PagedRows(self._pool, slots_for(self._blocks, self.next, stop), self.next - first)
        positions = torch.arange(first, stop)
        device = self._target.device
        try:
            mapper.transfer_to(
                written,
                self._ready.staged.rows(first, stop, device),
                self._ready.source.rope.at(positions, device),
                self._target.rope.at(positions, device),
                token_ids=tokens[:stop] if first == 0 else None,
            )
            if not written.finite:
                raise ValueError("the mapped rows are not finite")
        except BaseException:
            written.wipe()
            raise
        _settle(device)
        self.next = stop
        self.map_seconds += time.perf_counter() - began
        self.write_seconds += written.watch.seconds


def _settle(device: torch.device) -> None:
    """Waits for the device, so that the clock measures work and not its launch."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
