"""Mapped rows on their way into the paged cache, a chunk of one layer at a time."""

from __future__ import annotations

import time
from typing import Any

import torch
from torch import Tensor

from ..models.cache import LayerKV
from .kv_pool import KvPool


class PagedRows:
    """Where a transfer writes (`mapping.Destination`): scratch room for a chunk, then the pool's slots.

    The first `skip` rows are dropped: the pool has them already. Rows lie in the pool before all of them
    are known to be finite, so whoever finds `finite` false, or fails on the way, calls `wipe`.
    """

    def __init__(self, pool: KvPool, slots: Tensor, skip: int = 0) -> None:
        """`slots` [rows - skip] (int64, on the CPU) take the rows from `skip` on."""
        self._pool = pool
        self._slots = slots.to(pool.device)
        self._skip = skip
        self._scratch = torch.empty(0, dtype=pool.shape.dtype, device=pool.device)
        self._sums: list[Tensor] = []
        self.watch = Stopwatch(pool.device)

    def room(self, layer: int, batch: slice, tokens: slice) -> LayerKV:
        """[1, kv_heads, n, d] twice, good until the next call."""
        shape = (1, self._pool.shape.kv_heads, tokens.stop - tokens.start, self._pool.shape.head_dim)
        need = shape[1] * shape[2] * shape[3]
        if self._scratch.numel() < 2 * need:
            self._scratch = self._scratch.new_empty(2 * need)
        return self._scratch[:need].view(shape), self._scratch[need : 2 * need].view(shape)

    def filled(self, layer: int, batch: slice, tokens: slice, room: LayerKV) -> None:
        """Moves the rows that are wanted."""
        drop = max(0, self._skip - tokens.start)
        if drop >= tokens.stop - tokens.start:
            return
        self.watch.start()
        k, v = (t[0, :, drop:] for t in room)
        # A sum is finite only if everything in it is; asking costs a GPU nothing until the end.
        self._sums += [k.sum(), v.sum()]
        slots = self._slots[tokens.start + drop - self._skip : tokens.stop - self._skip]
        self._pool.write(layer, slots, k, v)
        self.watch.stop()

    @property
    def finite(self) -> bool:
        """Whether everything written is a finite number."""
        return not self._sums or bool(torch.isfinite(torch.stack(self._sums)).all())

    def wipe(self) -> None:
        """Zeroes the slots: a later read of padding must not meet what a failed transfer left."""
        shape = self._pool.shape
        nothing = torch.zeros(
            shape.kv_heads, len(self._slots), shape.head_dim, dtype=shape.dtype, device=self._pool.device
        )
        for layer in range(shape.layers):
            self._pool.write(layer, self._slots, nothing, nothing)


class Stopwatch:
    """Adds up stretches of one device's work without making the device wait in between."""

    def __init__(self, device: torch.device) -> None:
        self._gpu = device.type == "cuda"
        self._began: Any = None
        self._seconds = 0.0
        self._events: list[tuple[Any, Any]] = []

    def start(self) -> None:
        """Begins a stretch."""
        self._began = self._mark()

    def stop(self) -> None:
        """Ends it."""
        if self._gpu:
            self._events.append((self._began, self._mark()))
        else:
            self._seconds += self._mark() - self._began

    @property
    def seconds(self) -> float:
        """All stretches together; on a GPU only after its queue is empty."""
        return self._seconds + sum(a.elapsed_time(b) for a, b in self._events) / 1000

    def _mark(self) -> Any:
        if not self._gpu:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event
