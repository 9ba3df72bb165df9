"""A model whose frequencies change with length is served as far as one set of them goes."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from tiny import VOCABULARY, tiny_tokenizer
from transformers import LlamaConfig, LlamaForCausalLM, Phi3Config, Phi3ForCausalLM

from lifeboat_kv.engine.served_model import open_model
from lifeboat_kv.errors import RopeError

SIZES = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 1024,
    "pad_token_id": 0,
    "eos_token_id": 1,
}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "short_factor": [1.0] * 8,
    "long_factor": [4.0] * 8,
    "original_max_position_embeddings": 96,
}


def saved(model, folder: Path) -> Path:
    model.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder


def test_its_context_ends_where_its_short_frequencies_do(tmp_path: Path) -> None:
    config = Phi3Config(**SIZES, rope_parameters=LONGROPE, original_max_position_embeddings=96)
    folder = saved(Phi3ForCausalLM(config), tmp_path / "phi3")
    served = open_model(folder, torch.device("cpu"), torch.float32)
    assert served.facts["max_position_embeddings"] == 1024
    assert (served.max_model_len, served.rope.limit) == (96, 96)
    served.rope.at(torch.arange(served.max_model_len))
    plain = saved(LlamaForCausalLM(LlamaConfig(**SIZES)), tmp_path / "llama")
    assert open_model(plain, torch.device("cpu"), torch.float32).max_model_len == 1024


def test_a_model_that_cannot_be_un_rotated_is_not_opened(tmp_path: Path) -> None:
    """Found when it is opened, not in the first transfer."""
    parameters = {"rope_type": "dynamic", "rope_theta": 10_000.0, "factor": 2.0}
    folder = saved(LlamaForCausalLM(LlamaConfig(**SIZES, rope_parameters=parameters)), tmp_path / "ntk")
    with pytest.raises(RopeError) as raised:
        open_model(folder, torch.device("cpu"), torch.float32)
    assert raised.value.code == "ROPE_DYNAMIC"
