"""Caches waiting to be carried across: bounded, expiring, taken once, zeroed when freed."""

from __future__ import annotations

import ctypes
import hmac
import mmap
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..models.cache import LayerKV

MAX_TTL_MS = 60_000


class StagedMemory:
    """Anonymous memory of `size` bytes that no file or other process reaches, zeroed by `free`."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._map: mmap.mmap | None = mmap.mmap(-1, size)

    def view(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """A tensor over the memory; it must not be used after `free`. Errors: ValueError when freed."""
        if self._map is None:
            raise ValueError("the memory was freed")
        return torch.frombuffer(self._map, dtype=dtype).view(*shape)

    def free(self) -> None:
        """Writes zeros over everything and lets the memory go; a second call does nothing."""
        if self._map is None:
            return
        view = (ctypes.c_char * self.size).from_buffer(self._map)
        ctypes.memset(ctypes.addressof(view), 0, self.size)
        del view
        # Tensors made by `view` may still point here; the mapping goes when the last of them does.
        self._map = None


@dataclass
class StagedCache:
    """A prompt's cache in the source model: `tokens` and rows [layers, 2, kv_heads, T, d], keys rotated.

    Row 0 belongs to the token at `start`: what the other model holds already is not staged.
    """

    model: str
    tokens: tuple[int, ...]
    start: int
    mac: str
    expires: float
    memory: StagedMemory
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def size(self) -> int:
        """Bytes held."""
        return self.memory.size

    def rows(self, start: int, stop: int, device: torch.device) -> list[LayerKV]:
        """Per layer (k, v) [kv_heads, stop - start, d] on `device`, of prompt rows start ... stop.

        On the CPU these are views, good until `free`: a transfer reads them once, in place.
        """
        span = slice(start - self.start, stop - self.start)
        both = self.memory.view(self.shape, self.dtype)[:, :, :, span].to(device)
        return [(layer[0], layer[1]) for layer in both]


class StagingStore:
    """Staged caches by handle, within `budget_bytes`. Safe to use from several threads."""

    def __init__(self, budget_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget_bytes = budget_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: dict[str, StagedCache] = {}
        self._held = 0
        self.expired = 0

    @property
    def used_bytes(self) -> int:
        """Bytes of entries waiting and of entries taken and not yet freed."""
        with self._lock:
            return self._held

    @property
    def count(self) -> int:
        """Entries waiting."""
        with self._lock:
            return len(self._entries)

    def put(
        self,
        handle: str,
        mac: str,
        model: str,
        tokens: Sequence[int],
        layers: Sequence[LayerKV],
        ttl_ms: int,
        start: int = 0,
    ) -> int | None:
        """Copies a cache's rows from `start` on in; returns their bytes.

        None without room or where the handle is taken.
        """
        k = layers[0][0]
        shape = (len(layers), 2, *k.shape)
        size = k.numel() * k.element_size() * 2 * len(layers)
        self.sweep()
        with self._lock:
            if handle in self._entries or self._held + size > self.budget_bytes:
                return None
            self._held += size
        try:
            memory = StagedMemory(size)
            rows = memory.view(shape, k.dtype)
            for index, (keys, values) in enumerate(layers):
                rows[index, 0].copy_(keys)
                rows[index, 1].copy_(values)
        except Exception:
            # What was never kept must not count against the budget for ever.
            with self._lock:
                self._held -= size
            raise
        expires = self._clock() + min(ttl_ms, MAX_TTL_MS) / 1000
        entry = StagedCache(model, tuple(tokens), start, mac, expires, memory, shape, k.dtype)
        with self._lock:
            self._entries[handle] = entry
        return size

    def take(self, handle: str, mac: str) -> StagedCache | None:
        """The entry, once: it is gone afterwards, also when the MAC does not match or it has expired."""
        with self._lock:
            entry = self._entries.pop(handle, None)
        if entry is None:
            return None
        if self._clock() >= entry.expires or not hmac.compare_digest(entry.mac, mac):
            self.free(entry)
            return None
        return entry

    def free(self, entry: StagedCache) -> None:
        """Zeroes a taken entry's memory and gives its bytes back to the budget."""
        if entry.memory.size:
            entry.memory.free()
            with self._lock:
                self._held -= entry.size
            entry.memory.size = 0

    def sweep(self) -> int:
        """Frees what has expired; returns how many entries that were."""
        now = self._clock()
        with self._lock:
            gone = [handle for handle, entry in self._entries.items() if now >= entry.expires]
            entries = [self._entries.pop(handle) for handle in gone]
            self.expired += len(entries)
        for entry in entries:
            self.free(entry)
        return len(entries)

    def clear(self) -> None:
        """Frees everything waiting."""
        with self._lock:
            entries = list(self._entries.values())
            self._entries.clear()
        for entry in entries:
            self.free(entry)
