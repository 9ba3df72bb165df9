"""One pass over a split: moments of source and target rows, for keys and for values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass

import torch
from torch import Tensor

from ..corpora import Sequence
from ..methods import ATTENTION, FIRST_POSITIONS
from ..models.side import Side
from .attention_mass import QUERY_STEP, AttentionMass, watching
from .capture import batches, padded, prefill
from .passes import PARTS, Pass, Widths, nearest_layers
from .prenorm import recording_prenorm
from .row_weights import row_weights
from .second_moments import Moments


@dataclass(frozen=True)
class Columns:
    """Where layers stand in joint rows: first column of each layer that is read, and that is written."""

    read: dict[int, int]
    read_width: int
    write: dict[int, int]
    write_width: int
    leading: int
    total: int

    def source(self, layer: int) -> Tensor:
        """Columns [read_width] of a layer's features."""
        return self.read[layer] + torch.arange(self.read_width)

    def target(self, layer: int) -> Tensor:
        """Columns [write_width] of the rows a map onto `layer` has to give."""
        return self.write[layer] + torch.arange(self.write_width)


@dataclass(frozen=True)
class Wanted:
    """What a pass adds up. `own` is the weighting of the self-map, which reads `nearest` layers, None for no
    self-map. `prenorm` are the weightings that also need pre-norm target keys."""

    one: Pass
    own: str | None
    nearest: int
    prenorm: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Joint:
    """Joint moments with their columns; `onto_prenorm` are the columns where keys before k_norm are the
    target."""

    moments: Moments
    columns: Columns
    onto_prenorm: Columns | None = None


@dataclass(frozen=True)
class Gathered:
    """The sums of one pass over one split: of the pair by (part, weighting), of the self-map by part."""

    pair: dict[tuple[str, str], Joint]
    own: dict[str, Joint]


@torch.no_grad()
def accumulate(
    sequences: list[Sequence],
    source: Side,
    target: Side,
    widths: Widths,
    wanted: Wanted,
    *,
    exact: Callable[[Sequence], int],
    stride: int,
    seed: int,
    batch_tokens: int,
    device: torch.device | str,
    progress: Callable[[int], None] = lambda tokens: None,
) -> Gathered:
    """Runs both models over `sequences` and adds up every `stride`-th row, with a random offset.

    The first four positions are always taken: a stride would see them once in a while only. Which rows
    are taken follows from `seed` and the sequence alone, so that every pass sees the same ones.
    `exact` tells how many first rows of a sequence no map has to give. `progress` is told the tokens
    done. Errors: NumericsError.
    """
    sums = _empty(widths, wanted, device)
    needs_mass = ATTENTION in wanted.one.weightings
    done = 0
    for group in batches(sequences, batch_tokens):
        lengths = [len(s.tokens) for s in group]
        ids = padded(group, device)
        rows = _chosen_rows(group, stride, seed)
        mass = AttentionMass(lengths, [draw(seed, s, QUERY_STEP) for s in group]) if needs_mass else None
        with (
            watching(target.model, mass) if mass else nullcontext(),
            recording_prenorm(target.model) if wanted.prenorm else nullcontext([]) as before_norm,
        ):
            there = _content(target, ids, rows)
        here = _content(source, ids, rows)
        weights = {
            name: row_weights(name, rows, lengths, [exact(s) for s in group], mass.paid if mass else None)
            for name in wanted.one.weightings
        }
        _add(sums, wanted, rows, here, there, before_norm, weights)
        done += sum(lengths)
        progress(done)
    return sums


def draw(seed: int, sequence: Sequence, below: int) -> int:
    """A number in [0, below) that follows from `seed` and the sequence alone."""
    digest = hashlib.sha256(f"{seed}:{sequence.digest}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % below


def _empty(widths: Widths, wanted: Wanted, device: torch.device | str) -> Gathered:
    pair: dict[tuple[str, str], Joint] = {}
    own: dict[str, Joint] = {}
    layers = wanted.one.layers
    for part in wanted.one.parts:
        for name in wanted.one.weightings:
            after, before = _pair_columns(widths, layers, part == "k" and name in wanted.prenorm)
            pair[part, name] = _joint(after, before, device)
        if wanted.own in wanted.one.weightings:
            prenorm = part == "k" and wanted.own in wanted.prenorm
            own[part] = _joint(*_own_columns(widths, layers, wanted.nearest, prenorm), device)
    return Gathered(pair, own)


def _joint(after: Columns, before: Columns | None, device: torch.device | str) -> Joint:
    total = (before or after).total
    return Joint(Moments.empty(total, device, leading=after.leading), after, before)


def _pair_columns(widths: Widths, layers: Iterable[int], prenorm: bool) -> tuple[Columns, Columns | None]:
    read = {layer: layer * widths.source for layer in range(widths.source_layers)}
    leading = widths.source_layers * widths.source
    return _written(read, widths.source, list(layers), widths.target, leading, leading, prenorm)


def _own_columns(
    widths: Widths, layers: Iterable[int], nearest: int, prenorm: bool
) -> tuple[Columns, Columns | None]:
    """The self-map's: what is written stands among what is read, but for keys before k_norm."""
    layers = list(layers)
    readable = sorted({s for layer in layers for s in nearest_layers(layer, nearest, widths.target_layers)})
    read = {layer: i * widths.target for i, layer in enumerate(readable)}
    leading = len(readable) * widths.target
    after = Columns(read, widths.target, read, widths.target, leading, leading)
    if not prenorm:
        return after, None
    return after, _written(read, widths.target, layers, widths.target, leading, leading, False)[0]


def _written(
    read: dict[int, int],
    read_width: int,
    layers: list[int],
    width: int,
    leading: int,
    start: int,
    prenorm: bool,
) -> tuple[Columns, Columns | None]:
    """Columns with `layers` written from `start` on, and, for `prenorm`, once more behind them."""

    def at(first: int) -> Columns:
        write = {layer: first + i * width for i, layer in enumerate(layers)}
        return Columns(read, read_width, write, width, leading, first + len(layers) * width)

    after = at(start)
    return after, at(after.total) if prenorm else None


def _content(side: Side, ids: Tensor, rows: tuple[Tensor, Tensor]) -> tuple[list[Tensor], list[Tensor]]:
    """What a cache holds of the chosen rows: content keys and values by layer, float32 [N, h * d]."""
    keys, values = [], []
    for k, v in prefill(side.model, ids)[0]:
        rotated = _picked(k, rows).float().transpose(0, 1)  # [h, N, d]
        keys.append(side.rope.strip(rotated, rows[1]).transpose(0, 1).flatten(1))
        values.append(_picked(v, rows).float().flatten(1))
    return keys, values


def _picked(layer: Tensor, rows: tuple[Tensor, Tensor]) -> Tensor:
    """[B, h, T, d] -> [N, h, d] at the chosen (batch index, position)."""
    batch, position = (index.to(layer.device) for index in rows)
    return layer[batch, :, position]


def _add(
    sums: Gathered,
    wanted: Wanted,
    rows: tuple[Tensor, Tensor],
    here: tuple[list[Tensor], list[Tensor]],
    there: tuple[list[Tensor], list[Tensor]],
    before_norm: list[Tensor],
    weights: dict[str, Tensor | None],
) -> None:
    layers = wanted.one.layers
    for part in wanted.one.parts:
        index = PARTS.index(part)
        raw: list[Tensor] = []
        if before_norm and part == "k":
            raw = [_picked(before_norm[layer], rows).float().flatten(1) for layer in layers]
        features = torch.cat([*here[index], *(there[index][layer] for layer in layers), *raw], dim=-1)
        for name in wanted.one.weightings:
            joint = sums.pair[part, name]
            _take(joint.moments, features[:, : (joint.onto_prenorm or joint.columns).total], weights[name])
        if part in sums.own:
            joint = sums.own[part]
            own = [there[index][layer] for layer in joint.columns.read]
            rest = raw if joint.onto_prenorm else []
            _take(joint.moments, torch.cat([*own, *rest], dim=-1), weights[wanted.own])


def _take(moments: Moments, rows: Tensor, weights: Tensor | None) -> None:
    """Adds the rows that count at all."""
    if weights is None:
        moments.add(rows)
        return
    weights = weights.to(rows.device)
    counted = weights > 0
    moments.add(rows[counted], weights[counted])


def _chosen_rows(group: list[Sequence], stride: int, seed: int) -> tuple[Tensor, Tensor]:
    """(batch index, position) of the rows to add."""
    rows, columns = [], []
    for index, sequence in enumerate(group):
        positions = torch.arange(len(sequence.tokens))
        keep = (positions < FIRST_POSITIONS) | (positions % stride == draw(seed, sequence, stride))
        columns.append(positions[keep])
        rows.append(torch.full((int(keep.sum()),), index))
    return torch.cat(rows), torch.cat(columns)
