"""Texts of a small vocabulary, and a tokenizer that reads them, for the tests of corpora."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<|bos|>", "<|eos|>", "<|user|>", "<|assistant|>"]
WORDS = [f"word{i}" for i in range(400)]
SIZES = {"fit": 12, "select": 4, "gate": 8, "report": 4, "seq_len": 96}


def tokenizer(adds_bos: bool = False, template: bool = True) -> PreTrainedTokenizerFast:
    """One token a word. With `adds_bos` it puts its BOS before every text, as Llama's does."""
    vocabulary = {word: i for i, word in enumerate([*SPECIAL, *WORDS])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="word0"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if adds_bos:
        inner.post_processor = processors.TemplateProcessing(
            single="<|bos|> $A", pair=None, special_tokens=[("<|bos|>", 0)]
        )
    made = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<|bos|>",
        eos_token="<|eos|>",
        additional_special_tokens=SPECIAL[2:],
    )
    if template:
        made.chat_template = (
            "{{ bos_token }}{% for m in messages %}"
            "{% if m['role'] == 'tool' %}{{ raise_exception('no tools') }}{% endif %}"
            " <|{{ m['role'] }}|> {{ m['content'] }}{% endfor %}"
            "{% if add_generation_prompt %} <|assistant|>{% endif %}"
        )
    return made


def text(chance: random.Random, words: int = 90) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def texts(count: int, words: int = 90, seed: int = 0) -> list[str]:
    chance = random.Random(seed)
    return [text(chance, words) for _ in range(count)]


def save_lines(file: Path, records: list[Any]) -> Path:
    """A .jsonl of records; a plain string is a record with that text."""
    rows = [r if not isinstance(r, str) else {"text": r} for r in records]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    return file
