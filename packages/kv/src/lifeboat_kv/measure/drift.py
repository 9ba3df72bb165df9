"""Drift: two models answer by turns, and the conversation's cache goes with every turn.

At each turn the model that answered before reads the new question into the cache it holds, and that cache,
mapped rows and all, is mapped to the other model, which answers. What it says on top of the mapped cache is
compared with what it says after reading the whole conversation itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..events import Events
from ..mapper.artifact import read_mapper
from ..mapper.form import Mapper
from ..mapper.tail import tail_length
from ..models.cache import LayerKV, build_cache
from ..models.facts import inspect_model
from ..models.grouped_attention import use_grouped_attention
from ..models.load import end_tokens, load_model, load_tokenizer
from ..models.side import Side
from ..moments.capture import body
from ..rotation.rope import Rope
from ..score.points import ANSWER_TOKENS
from ..score.tally import Tally
from .conversations import Conversation, conversations

TURNS = 10
# "new": only rows that the answering model does not hold yet are mapped, as the engine's prefix cache does;
# "all": the whole conversation is mapped anew at every switch, rows that were mapped before included.
CARRIES = ("new", "all")


@dataclass
class _Speaker:
    """One model of the conversation: what it read itself, and by carry what it was given and went on from."""

    side: Side
    ends: frozenset[int]
    native: list[LayerKV] = field(default_factory=list)
    carried: dict[str, list[LayerKV]] = field(default_factory=dict)

    def extend(self, layers: list[LayerKV], tokens: list[int]) -> tuple[list[LayerKV], Tensor]:
        """`layers` with the rows that `tokens` lacks there, and final hidden states [n, hidden] of those."""
        return _read(self.side.model, layers, tokens[_rows(layers) :])

    def answer(self, prompt: list[int]) -> list[int]:
        """Its greedy answer to `prompt` after reading all of it itself; up to 64 tokens, end included."""
        self.native, hidden = self.extend(self.native, prompt)
        said: list[int] = []
        while True:
            said.append(int(self.side.model.lm_head(hidden[-1:]).argmax()))
            if len(said) == ANSWER_TOKENS or said[-1] in self.ends:
                return said
            self.native, hidden = _read(self.side.model, self.native, said[-1:])


def drift(
    source: Side,
    target: Side,
    mapper: Mapper,
    reverse: Mapper,
    ends: frozenset[int],
    chats: list[Conversation],
    *,
    progress: Callable[[int], None] = lambda done: None,
) -> dict[str, list[dict[str, Any]]]:
    """By carry of CARRIES, one row a turn: {turn, direction, retention, buckets, positions, n}.

    Turn 1 goes up (source to target), turn 2 down, and so on; `mapper` maps up, `reverse` down. Retention
    is the mean over the buckets that have positions; `n` counts conversations.
    """
    tallies = {carry: Tally("long") for carry in CARRIES}
    for done, chat in enumerate(chats, 1):
        _converse((source, target), (mapper, reverse), ends, chat, tallies)
        progress(done)
    count = len(chats[0].turns)
    return {carry: [_turn(tally, turn) for turn in range(count)] for carry, tally in tallies.items()}


def bundled_chats() -> Path:
    """The chats of the bundled corpus's probes, which no mapper was fitted on."""
    return Path(__file__).resolve().parents[5] / "corpora" / "bundled" / "probes.jsonl"


def drift_files(
    source_model: Path,
    target_model: Path,
    mapper: Path,
    reverse_mapper: Path,
    chats: Path,
    events: Events,
    *,
    turns: int = TURNS,
    most: int = 64,
) -> None:
    """Sends one metric event "drift" for each carry. Errors: HelmError of reading models, mappers, chats."""
    facts = inspect_model(source_model), inspect_model(target_model)
    maps = (
        read_mapper(mapper, expected_pair=facts),
        read_mapper(reverse_mapper, expected_pair=(facts[1], facts[0])),
    )
    tokenizer = load_tokenizer(target_model)
    found = conversations(chats, tokenizer, turns, most)
    sides = []
    for path in (source_model, target_model):
        model = load_model(path)
        use_grouped_attention(model)
        sides.append(Side(model, Rope.from_model(model)))
    ends = end_tokens(sides[1].model, tokenizer)
    told = drift(
        *sides,
        *maps,
        ends,
        found,
        progress=lambda done: events.log("info", f"{done} of {len(found)} conversations"),
    )
    for carry, rows in told.items():
        events.send("metric", name="drift", carry=carry, turns=rows)


@torch.no_grad()
def _converse(
    sides: tuple[Side, Side],
    mappers: tuple[Mapper, Mapper],
    ends: frozenset[int],
    chat: Conversation,
    tallies: dict[str, Tally],
) -> None:
    speakers = [_Speaker(side, ends) for side in sides]
    tokens: list[int] = []
    for turn, asked in enumerate(chat.turns):
        giver, taker = speakers[turn % 2], speakers[1 - turn % 2]
        tokens += asked
        said = taker.answer(tokens)
        for carry, tally in tallies.items():
            held, _ = giver.extend(giver.carried.get(carry, []), tokens)
            giver.carried[carry] = held
            rows = len(tokens) - tail_length(len(tokens))
            own = taker.carried.get(carry, []) if carry == "new" else []
            given = _carried(mappers[turn % 2], held, own, rows, tokens, giver.side, taker.side)
            taker.carried[carry], hidden = taker.extend(given, [*tokens, *said[:-1]])
            same = taker.side.model.lm_head(hidden[-len(said) :]).argmax(dim=-1).cpu() == torch.tensor(said)
            row = tally.of(_name(turn), chat.id, "chat")
            tally.add(row, len(tokens), same, torch.zeros(len(said)))
        tokens += said[:-1] if said[-1] in ends else said


def _carried(
    mapper: Mapper,
    held: list[LayerKV],
    own: list[LayerKV],
    rows: int,
    tokens: list[int],
    giver: Side,
    taker: Side,
) -> list[LayerKV]:
    """The taker's first `rows` rows: those of `own`, and the others mapped from what the giver holds."""
    start = min(_rows(own), rows)
    moved = mapper.transfer(
        [(k[:, :, start:rows], v[:, :, start:rows]) for k, v in held],
        torch.arange(start, rows),
        giver.rope,
        taker.rope,
        token_ids=tokens[:rows] if start == 0 else None,
    )
    dtype = taker.model.dtype
    if start == 0:
        return [(k.to(dtype), v.to(dtype)) for k, v in moved]
    return [
        (torch.cat((a[:, :, :start], k.to(dtype)), dim=2), torch.cat((b[:, :, :start], v.to(dtype)), dim=2))
        for (a, b), (k, v) in zip(own, moved, strict=True)
    ]


def _read(model: Any, layers: list[LayerKV], tokens: list[int]) -> tuple[list[LayerKV], Tensor]:
    ids = torch.tensor([tokens], device=model.device)
    out = body(model)(input_ids=ids, past_key_values=build_cache(layers) if layers else None, use_cache=True)
    return [(layer.keys, layer.values) for layer in out.past_key_values.layers], out.last_hidden_state[0]


def _rows(layers: list[LayerKV]) -> int:
    return layers[0][0].shape[-2] if layers else 0


def _name(turn: int) -> str:
    return f"turn {turn + 1}"


def _turn(tally: Tally, turn: int) -> dict[str, Any]:
    found = tally.retention(_name(turn))
    shares = [share for share in found["buckets"].values() if share is not None]
    return {
        "turn": turn + 1,
        "direction": "down" if turn % 2 else "up",
        "retention": sum(shares) / len(shares),
        "buckets": found["buckets"],
        "positions": sum(found["totals"].values()),
        "n": len(tally.arms[_name(turn)]),
    }
