"""Tiny random models and texts for tests of the calibrator; nothing here needs trained weights."""

from __future__ import annotations

import json
import random
from pathlib import Path

import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

WORDS = ["a", "Z", *(f"w{i}" for i in range(90))]
SPECIAL = ["<|bos|>", "<|eos|>", "<|user|>", "<|assistant|>"]
VOCABULARY = len(WORDS) + len(SPECIAL)


def tiny_model(
    layers: int = 3, hidden: int = 48, seed: int = 0, spread: float = 0.2, head_dim: int = 16
) -> Qwen3ForCausalLM:
    """A Qwen3 with random weights wide enough that positions and context change what it says."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        intermediate_size=64,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=head_dim,
        max_position_embeddings=4096,
        initializer_range=spread,
        tie_word_embeddings=True,
        eos_token_id=1,
        bos_token_id=0,
    )
    model = Qwen3ForCausalLM(config).eval().requires_grad_(False)
    for layer in model.model.layers:
        layer.self_attn.k_norm.weight.copy_(torch.rand(head_dim) * 2 + 0.2)
    return model


def tiny_tokenizer() -> PreTrainedTokenizerFast:
    vocabulary = {word: i for i, word in enumerate([*SPECIAL, *WORDS])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="w0"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<|bos|>",
        eos_token="<|eos|>",
        additional_special_tokens=SPECIAL[2:],
    )
    wrapped.chat_template = (
        "{{ bos_token }}{% for m in messages %}<|user|> {{ m['content'] }}{% endfor %}<|assistant|>"
    )
    return wrapped


def save_pair(folder: Path) -> tuple[Path, Path]:
    """A source of two layers and a target of three, sharing one tokenizer."""
    paths = folder / "source", folder / "target"
    for path, (layers, hidden, seed) in zip(paths, ((2, 32, 1), (3, 48, 2)), strict=True):
        tiny_model(layers, hidden, seed).save_pretrained(path)
        tiny_tokenizer().save_pretrained(path)
    return paths


def save_corpus(folder: Path, fit: int = 24, probes: int = 60, words: int = 90, long: int = 0) -> Path:
    """A corpus folder of random words with two hand-over points in each probe, and `long` long texts."""
    folder.mkdir(parents=True, exist_ok=True)
    chance = random.Random(5)
    for name, count, length in (("fit", fit, words), ("probes", probes, words), ("long", long, 5 * words)):
        if count == 0:
            continue
        with open(folder / f"{name}.jsonl", "w", encoding="utf-8") as out:
            for i in range(count):
                text = "<|bos|> <|user|> " + " ".join(chance.choices(WORDS, k=length))
                cuts = [len(text) - 40, len(text) - 8]
                row = {"id": f"{name}-{i}", "domain": "ab"[i % 2], "text": text, "cuts": cuts}
                out.write(json.dumps(row) + "\n")
    defaults = {"fit": fit - 6, "select": 6, "gate": probes - 10, "report": 10, "seq_len": 96}
    (folder / "manifest.json").write_text(json.dumps({"name": "tiny", "defaults": defaults}))
    return folder
