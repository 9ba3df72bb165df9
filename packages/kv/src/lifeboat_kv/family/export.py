"""Write a checkpoint as a transformers folder: config, bf16 safetensors, tokenizer, generation config."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from .architecture import LeanQwen3, Shape, config
from .tokenizer import BOS_ID, EOS_ID, PAD_ID


def export(model: LeanQwen3, tokenizer_folder: Path, folder: Path) -> None:
    """Each file is written beside its place and renamed, so a reader never sees half of it."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {
        name: value.detach().to(torch.bfloat16).contiguous() for name, value in model.state_dict().items()
    }
    partial = folder / "model.safetensors.partial"
    save_file(weights, str(partial), metadata={"format": "pt"})
    os.replace(partial, folder / "model.safetensors")
    generation = {
        "bos_token_id": BOS_ID,
        "eos_token_id": EOS_ID,
        "pad_token_id": PAD_ID,
        "do_sample": False,
        "max_new_tokens": 128,
    }
    for name, content in (("config.json", config(model.shape)), ("generation_config.json", generation)):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        if tokenizer_folder.resolve() != folder.resolve():
            shutil.copyfile(tokenizer_folder / name, folder / name)


def shape_of(folder: Path) -> Shape:
    facts = json.loads((folder / "config.json").read_text())
    return Shape(
        layers=facts["num_hidden_layers"],
        hidden=facts["hidden_size"],
        heads=facts["num_attention_heads"],
        kv_heads=facts["num_key_value_heads"],
        head_dim=facts["head_dim"],
        mlp=facts["intermediate_size"],
    )


def load_exported(folder: Path, dtype: torch.dtype = torch.float32) -> LeanQwen3:
    """The lean model with an exported folder's weights, widened to float32."""
    model = LeanQwen3(shape_of(folder), dtype)
    weights = load_file(str(folder / "model.safetensors"))
    model.load_state_dict({name: value.float() for name, value in weights.items()})
    return model
