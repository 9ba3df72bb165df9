"""The arms: other caches put under the same probes, all with the same exact ends as the mapper's own.

The arm without re-rotation exists here alone; no flag, configuration or manifest field reaches it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ..corpora import Sequence
from ..mapper.form import ConstantHead, Mapper
from ..models.cache import LayerKV
from ..rotation.rope import Rope

MAPPER = "mapper"
PILOT = "pilot_alone"
OTHER = "other_sequence"


@dataclass(frozen=True)
class Group:
    """Some probe sequences with both models' own caches, (k, v) [B, kv_heads, T, d] by layer.

    `stranger` is, for a group of one, the target's cache of a sequence outside it, as long.
    """

    sequences: list[Sequence]
    source: list[LayerKV]
    target: list[LayerKV]
    stranger: list[LayerKV] | None = None

    @property
    def positions(self) -> Tensor:
        return torch.arange(self.target[0][0].shape[-2])


@dataclass(frozen=True)
class Rivals:
    """What is scored: the mapper, the map of the target onto itself, and the plain ridge beside them.

    `others` are further mappers of the pair under names of their own, each with its own constant head.
    """

    mapper: Mapper
    self_map: Mapper | None
    plain_ridge: Mapper | None
    source_rope: Rope
    target_rope: Rope
    others: Mapping[str, Mapper] = field(default_factory=dict)

    def head_of(self, arm: str) -> ConstantHead | None:
        """The stored head an arm gets: the mapper's, so that rivals have the same ends."""
        return (self.others.get(arm) or self.mapper).head


def mapped_content(rivals: Rivals, group: Group) -> list[LayerKV]:
    """Content keys and values of the mapper for every row of the group."""
    return rivals.mapper.content(group.source, group.positions, rivals.source_rope)


def arms_of(
    rivals: Rivals, group: Group, content: list[LayerKV], names: tuple[str, ...]
) -> Iterator[tuple[str, list[LayerKV]]]:
    """(name, cache) of each arm in `names`, rotated and with the exact head in place."""
    rope, at = rivals.target_rope, group.positions
    makers: dict[str, Callable[[], list[LayerKV]]] = {
        MAPPER: lambda: [(rope.apply(k, at), v) for k, v in content],
        "identity": lambda: [(rope.apply(rope.strip(k.float(), at), at), v.float()) for k, v in group.target],
        "zero_cache": lambda: [(torch.zeros_like(k), torch.zeros_like(v)) for k, v in group.target],
        OTHER: lambda: others_of(group),
        "no_rerotation": lambda: [(k.clone(), v.clone()) for k, v in content],
        "shuffled_heads": lambda: [
            (rope.apply(k, at).roll(1, dims=1), v.roll(1, dims=1)) for k, v in content
        ],
        "self_map": lambda: _transfer(rivals.self_map, group.target, rope, rope, at),
        "plain_ridge": lambda: _transfer(rivals.plain_ridge, group.source, rivals.source_rope, rope, at),
    }
    for name, other in rivals.others.items():
        makers[name] = lambda other=other: _transfer(other, group.source, rivals.source_rope, rope, at)
    for name in names:
        layers = makers[name]()
        # The identity arm proves the machinery: nothing of it may be replaced by something exact.
        head = rivals.head_of(name)
        if name != "identity" and head is not None:
            put_head(layers, head, rope, group.sequences)
        yield name, layers


def arm_names(rivals: Rivals) -> tuple[str, ...]:
    """Every arm these rivals can give, the mapper first."""
    names = [MAPPER, "identity", "zero_cache", OTHER, "no_rerotation", "shuffled_heads"]
    names += ["self_map"] if rivals.self_map is not None else []
    names += ["plain_ridge"] if rivals.plain_ridge is not None else []
    return tuple(names)


def others_of(group: Group) -> list[LayerKV]:
    """For each sequence the target's cache of another one. Errors: ValueError where there is none."""
    if len(group.sequences) > 1:
        rows = strangers([len(s.tokens) for s in group.sequences])
        return [(k[rows], v[rows]) for k, v in group.target]
    if group.stranger is None:
        raise ValueError("a group of one has no other sequence")
    return [(k.clone(), v.clone()) for k, v in group.stranger]


def strangers(lengths: list[int]) -> list[int]:
    """For each of two or more sequences another one, the next that is as long; else the longest other.

    Rows past a shorter stranger's end are its padding: still another sequence's cache.
    """
    count = len(lengths)
    chosen = []
    for row in range(count):
        others = [(row + step) % count for step in range(1, count)]
        fitting = [o for o in others if lengths[o] >= lengths[row]]
        chosen.append(fitting[0] if fitting else max(others, key=lambda o: lengths[o]))
    return chosen


def put_head(layers: list[LayerKV], head: ConstantHead, rope: Rope, sequences: list[Sequence]) -> None:
    """Writes the stored cache of the constant first tokens over the rows of sequences that begin so."""
    at = torch.arange(len(head.token_ids))
    counts = [head.match(s.tokens) for s in sequences]
    for index, (k, v) in enumerate(layers):
        exact = rope.apply(head.k[index], at)
        for row, count in enumerate(counts):
            k[row, :, :count] = exact[:, :count].to(k)
            v[row, :, :count] = head.v[index, :, :count].to(v)


def _transfer(
    mapper: Mapper | None, layers: list[LayerKV], source: Rope, target: Rope, at: Tensor
) -> list[LayerKV]:
    if mapper is None:
        raise ValueError("this arm was not fitted")
    return mapper.transfer([(k.float(), v.float()) for k, v in layers], at, source, target)
