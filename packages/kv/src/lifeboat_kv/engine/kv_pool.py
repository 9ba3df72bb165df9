"""The paged store of one model's keys and values: blocks of 16 tokens, counted and shared."""

from __future__ import annotations

import math
import mmap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..models.cache import LayerKV
from .process_memory import touched_bytes

BLOCK_TOKENS = 16
# Block 0 is never handed out: padded rows read it, and it stays zero.
NULL_BLOCK = 0


@dataclass(frozen=True)
class KvShape:
    """What one token's cache looks like in a model."""

    layers: int
    kv_heads: int
    head_dim: int
    dtype: torch.dtype

    @property
    def bytes_per_token(self) -> int:
        """Bytes of keys and values over all layers."""
        item = torch.empty((), dtype=self.dtype).element_size()
        return 2 * self.layers * self.kv_heads * self.head_dim * item

    @property
    def bytes_per_block(self) -> int:
        """Bytes of one block over all layers."""
        return self.bytes_per_token * BLOCK_TOKENS


class KvPool:
    """Storage [2 * kv_heads, blocks, 16 * d] for each layer, K heads first, then V heads.

    Only the step thread touches it. On a CPU its pages come into memory as they are written, so
    `budget_bytes` is a ceiling and not what a fresh pool costs; a GPU's are there at once.
    """

    def __init__(self, shape: KvShape, budget_bytes: int, device: torch.device) -> None:
        self.shape = shape
        self.device = device
        self.blocks = budget_bytes // shape.bytes_per_block
        if self.blocks < 2:
            raise ValueError(f"{budget_bytes} bytes hold no block of {shape.bytes_per_block} bytes")
        size = (2 * shape.kv_heads, self.blocks, BLOCK_TOKENS * shape.head_dim)
        self.layers = [_zeros(size, shape.dtype, device) for _ in range(shape.layers)]
        self._scratch = torch.empty(0, dtype=shape.dtype, device=device)

    @property
    def usable_blocks(self) -> int:
        """Blocks that sequences may hold."""
        return self.blocks - 1

    @property
    def size_bytes(self) -> int:
        """Bytes of the whole pool."""
        return self.blocks * self.shape.bytes_per_block

    @property
    def touched_bytes(self) -> int | None:
        """Bytes of the pool that lie in memory, None where the system does not say."""
        if self.device.type != "cpu":
            return self.size_bytes
        found = [touched_bytes(layer) for layer in self.layers]
        return None if None in found else min(self.size_bytes, sum(found))

    @property
    def scratch_bytes(self) -> int:
        """Bytes of the buffer that gathered rows lie in."""
        return self._scratch.nbytes

    def write(self, layer: int, slots: Tensor, k: Tensor, v: Tensor) -> None:
        """Stores k, v [kv_heads, N, d] of one layer at `slots` [N] (block * 16 + offset)."""
        heads, d = self.shape.kv_heads, self.shape.head_dim
        rows = self.layers[layer].view(2 * heads, self.blocks * BLOCK_TOKENS, d)
        rows[:heads].index_copy_(1, slots, k)
        rows[heads:].index_copy_(1, slots, v)

    def gather(self, layer: int, table: Tensor) -> LayerKV:
        """Keys and values [B, kv_heads, n * 16, d] of `table` [B, n] of block numbers.

        The result is a view of a scratch buffer that the next call overwrites.
        """
        batch, count = table.shape
        heads, width = self.shape.kv_heads, BLOCK_TOKENS * self.shape.head_dim
        need = 2 * heads * batch * count * width
        if self._scratch.numel() < need:
            self._scratch = torch.empty(need, dtype=self.shape.dtype, device=self.device)
        flat = self._scratch[:need].view(2 * heads, batch * count, width)
        torch.index_select(self.layers[layer], 1, table.reshape(-1), out=flat)
        both = flat.view(2, heads, batch, count * BLOCK_TOKENS, self.shape.head_dim).transpose(1, 2)
        return both[0], both[1]

    def read(self, blocks: Sequence[int], tokens: int) -> list[LayerKV]:
        """Copies of the first `tokens` rows of a sequence, per layer (k, v) [kv_heads, tokens, d]."""
        heads, d = self.shape.kv_heads, self.shape.head_dim
        table = torch.tensor(blocks, dtype=torch.long, device=self.device)
        out: list[LayerKV] = []
        for layer in self.layers:
            rows = layer.index_select(1, table).view(2, heads, len(blocks) * BLOCK_TOKENS, d)[:, :, :tokens]
            out.append((rows[0], rows[1]))
        return out

    def copy_block(self, source: int, destination: int) -> None:
        """Copies one block over all layers."""
        for layer in self.layers:
            layer[:, destination].copy_(layer[:, source])

    def clear(self, blocks: Iterable[int]) -> None:
        """Zeroes blocks, so that what a failed sequence left cannot reach a padded read."""
        index = torch.tensor(list(blocks), dtype=torch.long, device=self.device)
        if index.numel():
            for layer in self.layers:
                layer.index_fill_(1, index, 0)


def _zeros(size: Sequence[int], dtype: torch.dtype, device: torch.device) -> Tensor:
    """Zeros; on a CPU in anonymous memory, since torch's own writes every page at once."""
    if device.type != "cpu":
        return torch.zeros(tuple(size), dtype=dtype, device=device)
    room = mmap.mmap(-1, math.prod(size) * dtype.itemsize)
    return torch.frombuffer(room, dtype=dtype).view(*size)


def slots_for(blocks: Sequence[int], start: int, stop: int) -> Tensor:
    """Slots [stop - start] of the token positions start ... stop of a sequence held in `blocks`."""
    position = torch.arange(start, stop)
    table = torch.tensor(blocks[: (stop + BLOCK_TOKENS - 1) // BLOCK_TOKENS], dtype=torch.long)
    return table[position // BLOCK_TOKENS] * BLOCK_TOKENS + position % BLOCK_TOKENS


def blocks_needed(tokens: int) -> int:
    """Blocks that hold `tokens` tokens."""
    return (tokens + BLOCK_TOKENS - 1) // BLOCK_TOKENS
