"""A mild pull that keeps the target's cache linearly predictable from the frozen pilot's.

For every target layer one linear map from all of the pilot's content keys to its content keys, and one for
values, learned beside the target. The penalty is the unexplained share of variance (1 - R2), averaged over
layers, so its weight is in nats per unit of R2. It pulls on the target as well as on the maps.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .architecture import LeanQwen3
from .grow import DEPTH


def rows(states: Tensor) -> Tensor:
    """[batch, heads, length, width] -> [batch * length, heads * width]."""
    return states.transpose(1, 2).flatten(2).flatten(0, 1)


class Bridge(nn.Module):
    def __init__(self, pilot: LeanQwen3, target: LeanQwen3) -> None:
        super().__init__()
        self.pilot = [pilot.requires_grad_(False)]  # in a list: its weights are no weights of the bridge
        width = pilot.shape.kv_heads * pilot.shape.head_dim
        plan = DEPTH[(pilot.shape.layers, target.shape.layers)]
        maps, before = [], 0
        for origin in plan:
            before = before if origin is None else origin
            start = torch.zeros(width, width * pilot.shape.layers)
            start[:, before * width : (before + 1) * width] = torch.eye(width)
            maps.append(start)
        self.keys = nn.Parameter(torch.stack(maps))
        self.values = nn.Parameter(torch.stack(maps))
        self.offsets = nn.Parameter(torch.zeros(2, len(plan), width))

    def features(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """The pilot's keys and values of all layers, each [batch * length, layers * width]."""
        caches: list[tuple[Tensor, Tensor]] = []
        with torch.no_grad():
            self.pilot[0](ids, caches)
        return torch.cat([rows(k) for k, _ in caches], 1), torch.cat([rows(v) for _, v in caches], 1)

    def forward(self, ids: Tensor, caches: list[tuple[Tensor, Tensor]]) -> Tensor:
        """Mean of 1 - R2 over the target's layers, keys and values; `caches` are the target's."""
        total = torch.zeros(())
        for part, (source, maps) in enumerate(zip(self.features(ids), (self.keys, self.values), strict=True)):
            for layer, cache in enumerate(caches):
                wanted = rows(cache[part]).float()
                guess = F.linear(source, maps[layer].to(source.dtype)).float() + self.offsets[part, layer]
                spread = wanted.detach().var(0).sum()
                total = total + (guess - wanted).square().sum(1).mean() / spread
        return total / (2 * len(caches))
