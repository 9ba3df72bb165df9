"""Sizes of the family and a lean Qwen3 forward pass for training.

The parameters carry transformers' names, so a state dict moves between the two without translation;
`tests/family` checks that both compute the same logits.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .tokenizer import BOS_ID, CONTEXT, EOS_ID, PAD_ID, VOCABULARY

THETA = 10000.0
EPSILON = 1e-6


@dataclass(frozen=True)
class Shape:
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    mlp: int


SHAPES = {
    "pilot": Shape(layers=5, hidden=128, heads=4, kv_heads=4, head_dim=32, mlp=384),
    "target": Shape(layers=7, hidden=192, heads=8, kv_heads=4, head_dim=32, mlp=512),
    "odd": Shape(layers=2, hidden=64, heads=4, kv_heads=2, head_dim=64, mlp=128),
}


def config(shape: Shape) -> dict:
    """The `config.json` of a Qwen3ForCausalLM of this shape."""
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": VOCABULARY,
        "hidden_size": shape.hidden,
        "intermediate_size": shape.mlp,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_dim,
        "hidden_act": "silu",
        "max_position_embeddings": CONTEXT,
        "rope_theta": THETA,
        "rope_scaling": None,
        "rms_norm_eps": EPSILON,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "use_sliding_window": False,
        "tie_word_embeddings": True,
        "initializer_range": 0.02,
        "use_cache": True,
        "bos_token_id": BOS_ID,
        "eos_token_id": EOS_ID,
        "pad_token_id": PAD_ID,
        "dtype": "bfloat16",
    }


class Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + EPSILON)
        return (wide * self.weight).to(x.dtype)


def linear(x: Tensor, weight: Tensor) -> Tensor:
    return F.linear(x, weight.to(x.dtype))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Half-split RoPE; x is [batch, heads, length, head_dim], cos and sin [length, head_dim / 2]."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1).to(x.dtype)


def attend(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    """Causal attention, q [batch, heads, length, width], k and v [batch, kv_heads, length, width].

    Written out: on a CPU the backward pass of the fused kernel takes more than twice as long at these sizes.
    The query heads of a group are laid one after another, so keys and values are never repeated.
    """
    batch, heads, length, width = q.shape
    kv_heads = k.shape[1]
    folded = q.reshape(batch, kv_heads, heads // kv_heads * length, width)
    scores = (folded * width**-0.5) @ k.mT
    places = torch.arange(length)
    future = (places[None, :] > places[:, None]).repeat(heads // kv_heads, 1)
    shares = scores.masked_fill(future, float("-inf")).softmax(-1, dtype=torch.float32).to(v.dtype)
    return (shares @ v).view(batch, heads, length, width)


class Attention(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        inner, kv = shape.heads * shape.head_dim, shape.kv_heads * shape.head_dim
        self.q_proj = nn.Linear(shape.hidden, inner, bias=False)
        self.k_proj = nn.Linear(shape.hidden, kv, bias=False)
        self.v_proj = nn.Linear(shape.hidden, kv, bias=False)
        self.o_proj = nn.Linear(inner, shape.hidden, bias=False)
        self.q_norm = Norm(shape.head_dim)
        self.k_norm = Norm(shape.head_dim)

    def content(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Un-rotated, normalised Q and K and plain V, each [batch, heads, length, head_dim]."""
        batch, length, _ = x.shape
        width = self.shape.head_dim
        q = self.q_norm(linear(x, self.q_proj.weight).view(batch, length, -1, width)).transpose(1, 2)
        k = self.k_norm(linear(x, self.k_proj.weight).view(batch, length, -1, width)).transpose(1, 2)
        v = linear(x, self.v_proj.weight).view(batch, length, -1, width).transpose(1, 2)
        return q, k, v

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, caches: list | None = None) -> Tensor:
        batch, length, _ = x.shape
        q, k, v = self.content(x)
        if caches is not None:
            caches.append((k, v))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        out = attend(q, k, v)
        return linear(out.transpose(1, 2).reshape(batch, length, -1), self.o_proj.weight)


class Mlp(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.mlp, bias=False)
        self.up_proj = nn.Linear(shape.hidden, shape.mlp, bias=False)
        self.down_proj = nn.Linear(shape.mlp, shape.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        gated = F.silu(linear(x, self.gate_proj.weight)) * linear(x, self.up_proj.weight)
        return linear(gated, self.down_proj.weight)


class Layer(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.input_layernorm = Norm(shape.hidden)
        self.self_attn = Attention(shape)
        self.post_attention_layernorm = Norm(shape.hidden)
        self.mlp = Mlp(shape)

    def forward(self, x: Tensor, cos: Tensor, sin: Tensor, caches: list | None = None) -> Tensor:
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, caches)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.hidden)


class LeanQwen3(nn.Module):
    """Qwen3 with tied embeddings; `dtype` is the precision of the activations."""

    def __init__(self, shape: Shape, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.shape, self.dtype = shape, dtype
        self.model = Body(shape)
        steps = torch.arange(0, shape.head_dim, 2, dtype=torch.float32) / shape.head_dim
        self.register_buffer("frequencies", THETA**-steps, persistent=False)

    def initialise(self, seed: int) -> LeanQwen3:
        generator = torch.Generator().manual_seed(seed)
        for name, parameter in self.named_parameters():
            if parameter.dim() == 2:
                scale = 0.02 if "embed" in name else 0.5 * parameter.shape[1] ** -0.5
                scale = 0.0 if name.endswith(("o_proj.weight", "down_proj.weight")) else scale
                nn.init.normal_(parameter, std=scale, generator=generator) if scale else nn.init.zeros_(
                    parameter
                )
        return self

    def angles(self, length: int) -> tuple[Tensor, Tensor]:
        angle = torch.arange(length, dtype=torch.float32)[:, None] * self.frequencies
        return angle.cos(), angle.sin()

    def forward(self, ids: Tensor, caches: list | None = None) -> Tensor:
        """ids [batch, length] -> logits [batch, length, vocabulary]. Content K and V go into `caches`."""
        cos, sin = self.angles(ids.shape[1])
        x = F.embedding(ids, self.model.embed_tokens.weight).to(self.dtype)
        for layer in self.model.layers:
            x = layer(x, cos, sin, caches)
        return linear(self.model.norm(x), self.model.embed_tokens.weight)

    def parameters_count(self) -> int:
        return sum(parameter.numel() for parameter in self.parameters())
