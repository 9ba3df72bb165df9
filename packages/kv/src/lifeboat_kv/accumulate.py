"""One pass over a split: moments of source and target rows, for keys and for values."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .attention_mass import QUERY_STEP, AttentionMass, watching
from .capture import batches, content_rows, padded, prefill
from .corpus import Sequence
from .methods import ATTENTION, FIRST_POSITIONS
from .moments import Moments
from .passes import Pass, Widths, nearest_layers
from .prenorm import recording_prenorm
from .rope import Rope
from .row_weights import row_weights


@dataclass(frozen=True)
class Side:
    """One model with its rotation."""

    model: Any
    rope: Rope


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
    """What a pass adds up. `weightings` of the pair's rows; `own` is the self-map's, None for no self-map,
    which reads `nearest` layers. `prenorm` are the weightings that also need pre-norm target keys."""

    one: Pass
    weightings: tuple[str, ...]
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
    needs_mass = ATTENTION in (*wanted.weightings, wanted.own)
    done = 0
    for group in batches(sequences, batch_tokens):
        lengths = [len(s.tokens) for s in group]
        ids = padded(group, device)
        rows = _chosen_rows(group, stride, seed)
        mass = AttentionMass(lengths, draw(seed, group[0], QUERY_STEP)) if needs_mass else None
        with (
            watching(target.model, mass) if mass else nullcontext(),
            recording_prenorm(target.model) if wanted.prenorm else nullcontext([]) as before_norm,
        ):
            there = content_rows(prefill(target.model, ids)[0], target.rope)
        here = content_rows(prefill(source.model, ids)[0], source.rope)
        weights = {
            name: row_weights(name, rows, lengths, [exact(s) for s in group], mass.paid if mass else None)
            for name in {*wanted.weightings, *([wanted.own] if wanted.own else [])}
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
        for name in wanted.weightings:
            after, before = _pair_columns(widths, layers, part == "k" and name in wanted.prenorm)
            pair[part, name] = _joint(after, before, device)
        if wanted.own is not None:
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
        index = ("k", "v").index(part)
        read = [_picked(t, rows) for t in here[index]]
        written = [_picked(there[index][layer], rows) for layer in layers]
        raw = [_picked(before_norm[layer], rows) for layer in layers] if before_norm and part == "k" else []
        features = torch.cat([*read, *written, *raw], dim=-1)
        for name in wanted.weightings:
            joint = sums.pair[part, name]
            joint.moments.add(features[:, : (joint.onto_prenorm or joint.columns).total], weights[name])
        if part in sums.own:
            joint = sums.own[part]
            rest = raw if joint.onto_prenorm else []
            own = [_picked(there[index][layer], rows) for layer in joint.columns.read]
            joint.moments.add(torch.cat([*own, *rest], dim=-1), weights[wanted.own])


def _picked(layer: Tensor, rows: tuple[Tensor, Tensor]) -> Tensor:
    """[B, h, T, d] -> [N, h * d]: head, then dimension, of the chosen (batch index, position)."""
    batch, position = (index.to(layer.device) for index in rows)
    return layer[batch, :, position].flatten(1)


def _chosen_rows(group: list[Sequence], stride: int, seed: int) -> tuple[Tensor, Tensor]:
    """(batch index, position) of the rows to add."""
    rows, columns = [], []
    for index, sequence in enumerate(group):
        positions = torch.arange(len(sequence.tokens))
        keep = (positions < FIRST_POSITIONS) | (positions % stride == draw(seed, sequence, stride))
        columns.append(positions[keep])
        rows.append(torch.full((int(keep.sum()),), index))
    return torch.cat(rows), torch.cat(columns)
