"""Chats as tokens, and how far two mappers drift over them.

Usage: SOURCE TARGET MAPPER REVERSE CHATS TURNS.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import torch
from lifeboat_kv.mapper.artifact import read_mapper
from lifeboat_kv.measure.conversations import conversations
from lifeboat_kv.measure.drift import bundled_chats, drift
from lifeboat_kv.models.grouped_attention import use_grouped_attention
from lifeboat_kv.models.load import end_tokens, load_model, load_tokenizer
from lifeboat_kv.models.side import Side
from lifeboat_kv.rotation.rope import Rope


def main(source: str, target: str, mapper: str, reverse: str, chats: str, turns: str) -> None:
    torch.set_num_threads(1)
    tokenizer = load_tokenizer(Path(target))
    found = conversations(bundled_chats(), tokenizer, int(turns), int(chats))
    sides = []
    for path in (source, target):
        model = load_model(Path(path))
        use_grouped_attention(model)
        sides.append(Side(model, Rope.from_model(model)))
    ends = end_tokens(sides[1].model, tokenizer)
    told = drift(*sides, read_mapper(Path(mapper)), read_mapper(Path(reverse)), ends, found)
    print(
        json.dumps(
            {
                "chats": [chat.turns for chat in found],
                "ends": sorted(ends),
                "turns": told["new"],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:7])
