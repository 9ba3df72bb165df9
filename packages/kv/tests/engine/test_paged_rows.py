"""Mapped rows in the paged cache: the right slots, nothing twice, nothing left of a failed transfer."""

from __future__ import annotations

import pytest
import torch

from lifeboat_kv.engine.kv_pool import BLOCK_TOKENS, KvPool, KvShape, slots_for
from lifeboat_kv.engine.paged_rows import PagedRows

SHAPE = KvShape(layers=2, kv_heads=3, head_dim=4, dtype=torch.float32)
BLOCKS = [4, 1, 6]
ROWS = 40


@pytest.fixture
def pool() -> KvPool:
    return KvPool(SHAPE, 8 * SHAPE.bytes_per_block, torch.device("cpu"))


def mapped() -> list[torch.Tensor]:
    """Per layer k and v [2, 1, 3, ROWS, 4] with every number once."""
    count = 2 * 3 * ROWS * 4
    return [torch.arange(count).view(2, 1, 3, ROWS, 4) + 1.0 + layer * count for layer in range(2)]


def put(rows: PagedRows, layers: list[torch.Tensor], pieces: list[slice], offset: int = 0) -> None:
    """Writes rows `offset` ... of `layers`, in pieces counted from `offset`."""
    for tokens in pieces:
        for index, both in enumerate(layers):
            room = rows.room(index, slice(0, 1), tokens)
            for part, given in zip(room, both, strict=True):
                part.copy_(given[:, :, offset + tokens.start : offset + tokens.stop])
            rows.filled(index, slice(0, 1), tokens, room)


@pytest.mark.parametrize("skip", [0, 5, 16, 32])
def test_rows_lie_where_a_reader_finds_them(pool: KvPool, skip: int) -> None:
    layers = mapped()
    rows = PagedRows(pool, slots_for(BLOCKS, skip, ROWS), skip)
    put(rows, layers, [slice(0, 16), slice(16, 33), slice(33, 40)])
    assert rows.finite
    assert rows.watch.seconds >= 0
    for (k, v), both in zip(pool.read(BLOCKS, ROWS), layers, strict=True):
        for found, wanted in ((k, both[0, 0]), (v, both[1, 0])):
            assert torch.equal(found[:, skip:], wanted[:, skip:])
            assert not found[:, :skip].any()
    free = [b for b in range(pool.blocks) if b not in BLOCKS]
    assert not any(layer[:, free].any() for layer in pool.layers)


def test_rows_that_stand_behind_others_leave_them_alone(pool: KvPool) -> None:
    layers, start = mapped(), BLOCK_TOKENS
    put(PagedRows(pool, slots_for(BLOCKS, 0, start)), layers, [slice(0, start)])
    put(PagedRows(pool, slots_for(BLOCKS, start, ROWS)), layers, [slice(0, ROWS - start)], start)
    for (k, _), both in zip(pool.read(BLOCKS, ROWS), layers, strict=True):
        assert torch.equal(k, both[0, 0])


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
@pytest.mark.parametrize("part", [0, 1])
def test_one_bad_number_is_seen_and_wiped(pool: KvPool, bad: float, part: int) -> None:
    layers = mapped()
    layers[1][part, 0, 2, 37, 3] = bad
    rows = PagedRows(pool, slots_for(BLOCKS, 16, ROWS), 16)
    put(rows, layers, [slice(0, 20), slice(20, 40)])
    assert not rows.finite
    rows.wipe()
    assert not any(layer.any() for layer in pool.layers)


def test_a_bad_row_that_is_dropped_does_not_count(pool: KvPool) -> None:
    layers = mapped()
    layers[0][0, 0, 0, 3] = torch.nan
    rows = PagedRows(pool, slots_for(BLOCKS, 16, ROWS), 16)
    put(rows, layers, [slice(0, 40)])
    assert rows.finite
