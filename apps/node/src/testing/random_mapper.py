"""A mapper of random weights: what it says is nonsense, where it goes is exact. Usage: SOURCE TARGET OUT."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from lifeboat_kv.mapper.artifact import write_mapper
from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.models.facts import inspect_model


def main(source: Path, target: Path, out: Path) -> None:
    torch.manual_seed(1)
    s, t = inspect_model(source), inspect_model(target)
    width = s["num_key_value_heads"] * s["head_dim"]
    wide = t["num_key_value_heads"] * t["head_dim"]
    layers = []
    for index in range(t["num_hidden_layers"]):
        chosen = (index % s["num_hidden_layers"],)
        wk, wv = (torch.randn(width, wide) / width**0.5 for _ in range(2))
        layers.append(LayerMap(chosen, chosen, wk, torch.zeros(wide), wv, torch.zeros(wide)))
    print(write_mapper(out, Mapper("random", s, t, tuple(layers)), {"development": True}))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))
