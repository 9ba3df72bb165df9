"""One model as the engine serves it: weights, tokenizer, facts, and its share of the cache budget."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from ..errors import ModelError
from ..models.facts import inspect_model
from ..models.load import end_tokens, load_model, load_tokenizer
from ..rotation.rope import Rope
from .kv_pool import KvPool, KvShape
from .paged_attention import ENGINE_ATTENTION, Piece, plan_layout
from .text import TokenNames


@dataclass
class ServedModel:
    """A loaded model. `name` is what requests call it; `facts` are `inspect_model`'s.

    `rope` takes keys out of the cache and puts them in; `max_model_len` never reaches past its frequencies.
    """

    name: str
    path: Path
    facts: dict[str, Any]
    module: Any
    tokenizer: Any
    ends: frozenset[int]
    shape: KvShape
    max_model_len: int
    device: torch.device
    rope: Rope

    @cached_property
    def names(self) -> TokenNames:
        """Single tokens as text and bytes."""
        return TokenNames(self.tokenizer)

    @property
    def weight_bytes(self) -> int:
        """Bytes of parameters and buffers; a tied tensor counts once."""
        seen = {t.data_ptr(): t.numel() * t.element_size() for t in self._tensors()}
        return sum(seen.values())

    @torch.inference_mode()
    def forward(
        self, pool: KvPool, pieces: Sequence[Piece], tokens: Sequence[int], rows: Sequence[int]
    ) -> Tensor:
        """Runs a packed batch and stores its cache; returns logits [len(rows), V] (float32) of packed `rows`.

        `tokens` are the pieces' new tokens one after another.
        """
        layout = plan_layout(pool, pieces)
        ids = torch.tensor([tokens], dtype=torch.long, device=self.device)
        hidden = self.module.model(
            input_ids=ids,
            position_ids=layout.positions[None],
            attention_mask=None,
            use_cache=False,
            engine_step=layout,
        ).last_hidden_state
        wanted = hidden[0, torch.tensor(list(rows), dtype=torch.long, device=self.device)]
        return self.module.lm_head(wanted).float()

    def _tensors(self) -> list[Tensor]:
        return [*self.module.parameters(), *self.module.buffers()]


def kv_shape(facts: Mapping[str, Any], dtype: torch.dtype) -> KvShape:
    """The cache that a model with these facts needs."""
    return KvShape(facts["num_hidden_layers"], facts["num_key_value_heads"], facts["head_dim"], dtype)


def open_model(
    path: str | os.PathLike[str],
    device: torch.device,
    dtype: torch.dtype,
    name: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> ServedModel:
    """Loads the model in folder `path` for serving under `name` (default: the id its config gives).

    `facts` are the folder's, where they were read already.

    Errors: ModelError where it cannot be read, has no full attention throughout, or no tokenizer;
    RopeError where its keys cannot be un-rotated.
    """
    facts = dict(facts or inspect_model(path))
    _check_attention(facts)
    module = load_model(path, device).to(dtype)
    module.set_attn_implementation(ENGINE_ATTENTION)
    tokenizer = load_tokenizer(path)
    # Encoding would switch these off itself, by a write that other threads' decoding must not meet.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    rope = Rope.from_model(module)
    context = int(facts["max_position_embeddings"] or 2048)
    return ServedModel(
        name=name or facts["id"],
        path=Path(path),
        facts=facts,
        module=module,
        tokenizer=tokenizer,
        ends=end_tokens(module, tokenizer),
        shape=kv_shape(facts, dtype),
        max_model_len=min(context, rope.limit or context),
        device=device,
        rope=rope,
    )


def _check_attention(facts: dict[str, Any]) -> None:
    odd = {kind for kind in facts.get("layer_types") or () if kind != "full_attention"}
    if odd or facts.get("kv_lora_rank") or facts.get("use_sliding_window"):
        raise ModelError("MODEL_UNREADABLE", f"{facts['id']}: only full attention in every layer is served")
