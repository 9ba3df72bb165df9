"""Muon for the matrices of the layers, AdamW for embeddings and norms.

Muon: momentum, then five Newton-Schulz steps towards the nearest orthogonal matrix (Jordan et al., 2024,
"Muon: an optimizer for hidden layers"). Matrices of one shape are stacked and treated in one batch.
"""

from __future__ import annotations

from collections import defaultdict

import torch
from torch import Tensor, nn

COEFFICIENTS = (3.4445, -4.7750, 2.0315)


def orthogonalise(stack: Tensor) -> Tensor:
    """stack [n, rows, columns] -> the same with singular values near 1, computed in bfloat16."""
    a, b, c = COEFFICIENTS
    x = stack.bfloat16()
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    transposed = x.shape[1] > x.shape[2]
    x = x.mT if transposed else x
    for _ in range(5):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.mT if transposed else x


class Muon:
    def __init__(self, parameters: list[nn.Parameter], momentum: float = 0.95, decay: float = 0.01) -> None:
        shapes: dict[tuple[int, ...], list[nn.Parameter]] = defaultdict(list)
        for parameter in parameters:
            shapes[tuple(parameter.shape)].append(parameter)
        self.stacks = list(shapes.values())
        self.buffers = [torch.zeros(len(stack), *stack[0].shape) for stack in self.stacks]
        self.momentum, self.decay = momentum, decay

    @torch.no_grad()
    def step(self, rate: float) -> None:
        for stack, buffer in zip(self.stacks, self.buffers, strict=True):
            gradient = torch.stack([parameter.grad for parameter in stack])
            buffer.lerp_(gradient, 1 - self.momentum)
            update = orthogonalise(gradient.lerp(buffer, self.momentum)).float()
            scale = max(1.0, update.shape[1] / update.shape[2]) ** 0.5
            for parameter, delta in zip(stack, update, strict=True):
                parameter.mul_(1 - rate * self.decay).sub_(delta, alpha=rate * scale)


class Optimiser:
    """Both parts under one schedule factor in [0, 1]."""

    def __init__(self, model: nn.Module, matrix_rate: float, other_rate: float) -> None:
        named = dict(model.named_parameters())
        matrices = [p for n, p in named.items() if p.dim() == 2 and "embed" not in n]
        others = [p for n, p in named.items() if p.dim() != 2 or "embed" in n]
        self.matrix_rate, self.other_rate = matrix_rate, other_rate
        self.muon = Muon(matrices)
        self.adam = torch.optim.AdamW(others, lr=other_rate, betas=(0.9, 0.95), weight_decay=0.0)

    def step(self, factor: float) -> None:
        self.muon.step(self.matrix_rate * factor)
        for group in self.adam.param_groups:
            group["lr"] = self.other_rate * factor
        self.adam.step()

    def state_dict(self) -> dict:
        return {"muon": self.muon.buffers, "adam": self.adam.state_dict()}

    def load_state_dict(self, state: dict) -> None:
        for buffer, saved in zip(self.muon.buffers, state["muon"], strict=True):
            buffer.copy_(saved)
        self.adam.load_state_dict(state["adam"])
