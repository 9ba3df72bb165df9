"""Attention over the paged cache for a packed batch: many sequences' new tokens in one row.

Registered with transformers under the name ENGINE_ATTENTION; the step's layout travels as a keyword.
Formula: softmax(q k^T / sqrt(d) + mask) v for each sequence over its own blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface

from .kv_pool import BLOCK_TOKENS, KvPool, blocks_needed, slots_for

ENGINE_ATTENTION = "lifeboat_paged"
# A group of decode rows may read at most this many times the blocks its rows really have.
PADDING_LIMIT = 1.5


@dataclass(frozen=True)
class Piece:
    """A sequence's share of a step: its tokens start ... stop, and the blocks that hold it."""

    blocks: Sequence[int]
    start: int
    stop: int


@dataclass(frozen=True)
class DecodeGroup:
    """Rows of one new token each, padded alike: `rows` [B], `table` [B, n], `mask` [B, 1, 1, n * 16]."""

    rows: Tensor
    table: Tensor
    mask: Tensor


@dataclass(frozen=True)
class PrefillSpan:
    """One sequence's run of several new tokens: packed rows first ... last, and its causal mask.

    `mask` [T, length] is None where the run starts the sequence and plain causality says the same.
    """

    first: int
    last: int
    table: Tensor
    length: int
    mask: Tensor | None


@dataclass(frozen=True)
class StepLayout:
    """How the packed row of a step is cut into sequences."""

    pool: KvPool
    slots: Tensor
    positions: Tensor
    groups: list[DecodeGroup]
    spans: list[PrefillSpan]


def plan_layout(pool: KvPool, pieces: Sequence[Piece]) -> StepLayout:
    """The layout of a packed batch in which the pieces lie one after another."""
    device = pool.device
    slots = torch.cat([slots_for(p.blocks, p.start, p.stop) for p in pieces]).to(device)
    positions = torch.cat([torch.arange(p.start, p.stop) for p in pieces]).to(device)
    singles: list[tuple[int, Piece]] = []
    spans: list[PrefillSpan] = []
    row = 0
    for piece in pieces:
        count = piece.stop - piece.start
        if count == 1:
            singles.append((row, piece))
        else:
            spans.append(_span(piece, row, device))
        row += count
    groups = [_group(members, device) for members in _similar(singles)]
    return StepLayout(pool, slots, positions, groups, spans)


def _span(piece: Piece, row: int, device: torch.device) -> PrefillSpan:
    count = piece.stop - piece.start
    table = torch.tensor(piece.blocks[: blocks_needed(piece.stop)], dtype=torch.long, device=device)[None]
    mask = None
    if piece.start:
        at = torch.arange(piece.start, piece.stop, device=device)
        mask = torch.arange(piece.stop, device=device)[None] <= at[:, None]
    return PrefillSpan(row, row + count, table, piece.stop, mask)


def _similar(singles: list[tuple[int, Piece]]) -> list[list[tuple[int, Piece]]]:
    """Cuts rows, longest first, into groups whose padding stays below PADDING_LIMIT."""
    groups: list[list[tuple[int, Piece]]] = []
    real = 0
    for item in sorted(singles, key=lambda single: -single[1].stop):
        need = blocks_needed(item[1].stop)
        if groups:
            widest = blocks_needed(groups[-1][0][1].stop)
            if widest * (len(groups[-1]) + 1) <= PADDING_LIMIT * (real + need):
                groups[-1].append(item)
                real += need
                continue
        groups.append([item])
        real = need
    return groups


def _group(members: list[tuple[int, Piece]], device: torch.device) -> DecodeGroup:
    width = max(blocks_needed(piece.stop) for _, piece in members)
    table = torch.zeros(len(members), width, dtype=torch.long)
    for index, (_, piece) in enumerate(members):
        own = piece.blocks[: blocks_needed(piece.stop)]
        table[index, : len(own)] = torch.tensor(own, dtype=torch.long)
    lengths = torch.tensor([piece.stop for _, piece in members])
    mask = torch.arange(width * BLOCK_TOKENS)[None] < lengths[:, None]
    rows = torch.tensor([row for row, _ in members], dtype=torch.long)
    return DecodeGroup(rows.to(device), table.to(device), mask[:, None, None].to(device))


def paged_attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    engine_step: StepLayout | None = None,
    **_: object,
) -> tuple[Tensor, None]:
    """transformers' attention signature: query [1, heads, N, d], key and value [1, kv_heads, N, d].

    Stores the new keys and values, then attends each piece over its own cache. Returns [1, N, heads, d].
    """
    if engine_step is None:
        raise RuntimeError("paged attention was called without a step layout")
    pool, layer = engine_step.pool, module.layer_idx
    pool.write(layer, engine_step.slots, key[0], value[0])
    heads, count, d = query.shape[1:]
    out = query.new_empty(heads, count, d)
    for group in engine_step.groups:
        out[:, group.rows] = _attend_rows(pool, layer, query[0], group, scaling)
    for span in engine_step.spans:
        out[:, span.first : span.last] = _attend_span(pool, layer, query, span, scaling)
    return out.transpose(0, 1)[None], None


def _attend_rows(
    pool: KvPool, layer: int, query: Tensor, group: DecodeGroup, scaling: float | None
) -> Tensor:
    """One token a row: the query heads that share a KV head become its query positions."""
    k, v = pool.gather(layer, group.table)
    batch, kv_heads, _, d = k.shape
    q = query[:, group.rows].transpose(0, 1).reshape(batch, kv_heads, -1, d)
    attended = F.scaled_dot_product_attention(q, k, v, attn_mask=group.mask, scale=scaling)
    return attended.reshape(batch, -1, d).transpose(0, 1)


def _attend_span(pool: KvPool, layer: int, query: Tensor, span: PrefillSpan, scaling: float | None) -> Tensor:
    k, v = pool.gather(layer, span.table)
    k, v = k[:, :, : span.length], v[:, :, : span.length]
    q = query[:, :, span.first : span.last]
    return F.scaled_dot_product_attention(
        q,
        k,
        v,
        attn_mask=span.mask,
        is_causal=span.mask is None,
        scale=scaling,
        enable_gqa=q.shape[1] != k.shape[1],
    )[0]


AttentionInterface.register(ENGINE_ATTENTION, paged_attention)
