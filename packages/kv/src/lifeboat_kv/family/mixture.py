"""Training rows: prose, code, plain repetition and graded tasks, with a curriculum that holds a level.

A row is `length + 1` ids. Weights: answers, prose and repeated tokens 1, prompts 0.05, random tokens 0.
"""

from __future__ import annotations

import copy
import hashlib
import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from .sources import Document
from .tasks import GENERATORS, Chat, generate
from .tokenizer import ASSISTANT_ID, BOS_ID, EOS_ID, SPECIAL, USER_ID, VOCABULARY

PROMPT_WEIGHT = 0.05
COPY_LEVELS = {1: (4, 12), 2: (12, 40), 3: (32, 110)}
ROLE_IDS = {"user": USER_ID, "assistant": ASSISTANT_ID}


@dataclass
class Curriculum:
    """Per kind: the highest open level and a running share of right answer tokens at each level."""

    levels: dict[str, int] = field(default_factory=dict)
    right: dict[str, float] = field(default_factory=dict)
    seen: dict[str, int] = field(default_factory=dict)
    pass_mark: float = 0.93
    ceiling: int = 9

    def record(self, group: str, right: int, total: int) -> None:
        """Mix one batch's answers into the group's running accuracy; open the next level when learned."""
        pace = min(0.2, total / 2000)
        self.right[group] = (1 - pace) * self.right.get(group, 0.0) + pace * right / total
        self.seen[group] = self.seen.get(group, 0) + total
        kind, level = group.split(":")
        top = len(COPY_LEVELS) if kind == "copy" else GENERATORS[kind][1]
        if int(level) == self.levels.get(kind, 1) and self.right[group] >= self.pass_mark:
            self.levels[kind] = min(int(level) + 1, top, self.ceiling)

    def choose(self, rng: random.Random, kind: str) -> int:
        level = self.levels.get(kind, 1)
        return level if level == 1 or rng.random() < 0.6 else rng.randint(1, level - 1)

    def to_json(self) -> dict:
        return {"levels": self.levels, "right": self.right, "seen": self.seen}


class Text:
    """Training prose and code, as text for passages and as ids for whole rows."""

    def __init__(
        self, documents: list[Document], tokenizer: Tokenizer, held_out: bool, cache: Path | None
    ) -> None:
        chosen = [d for d in documents if d.held_out == held_out]
        self.prose = [d.text for d in chosen if d.domain == "prose"]
        self.code = [d.text for d in chosen if d.domain == "code"]
        self.ids: dict[str, np.ndarray] = {}
        for domain in ("prose", "code"):
            file = cache / f"{domain}-{int(held_out)}.npy" if cache else None
            if file and file.exists():
                self.ids[domain] = np.load(file)
                continue
            encoded = tokenizer.encode_batch([d.text for d in chosen if d.domain == domain])
            self.ids[domain] = np.concatenate([np.array([BOS_ID, *e.ids], dtype=np.uint16) for e in encoded])
            if file:
                np.save(file, self.ids[domain])

    def half(self, part: int) -> Text:
        """The documents whose digest has this parity (0 or 1), without ids."""
        other = copy.copy(self)
        for domain in ("prose", "code"):
            texts = getattr(self, domain)
            setattr(other, domain, [t for t in texts if hashlib.sha256(t.encode()).digest()[-1] % 2 == part])
        return other

    def passage(self, rng: random.Random, tokens: int) -> str:
        """About `tokens` tokens of one document, single-spaced, cut between words."""
        size = int(tokens * 2.6)
        text = rng.choice(self.prose)
        start = rng.randrange(max(1, len(text) - 2 * size - 40))
        words = text[start : start + 2 * size + 40].split()[1:-1]
        kept, length = [], 0
        for word in words:
            if kept and length + len(word) > size:
                break
            kept.append(word)
            length += len(word) + 1
        return " ".join(kept) or "the"

    def window(self, rng: random.Random, domain: str, length: int) -> np.ndarray:
        ids = self.ids[domain]
        start = rng.randrange(len(ids) - length)
        return ids[start : start + length]


@dataclass(frozen=True)
class Shares:
    prose: float
    code: float
    copy: float
    kinds: dict[str, float]  # the rest of the rows, by task kind


@dataclass
class Batch:
    ids: np.ndarray  # [rows, length + 1]
    weights: np.ndarray  # [rows, length + 1], weight of predicting this token
    groups: np.ndarray  # [rows, length + 1], index into names; -1 where nothing is counted
    names: list[str]


class Mixture:
    def __init__(self, text: Text, tokenizer: Tokenizer, curriculum: Curriculum) -> None:
        self.text, self.tokenizer, self.curriculum = text, tokenizer, curriculum
        self.names = [f"copy:{level}" for level in COPY_LEVELS]
        self.names += [f"{kind}:{n}" for kind, (_, top) in GENERATORS.items() for n in range(1, top + 1)]
        self.index = {name: i for i, name in enumerate(self.names)}

    def chat_ids(self, chat: Chat) -> tuple[list[int], list[float]]:
        ids, weights = [BOS_ID], [0.0]
        for role, content in chat.messages:
            body = self.tokenizer.encode(" " + content.strip()).ids
            answer = role == "assistant"
            ids += [ROLE_IDS[role], *body] + ([EOS_ID] if answer else [])
            weights += (
                [PROMPT_WEIGHT] + [1.0 if answer else PROMPT_WEIGHT] * len(body) + ([1.0] if answer else [])
            )
        return ids, weights

    def _copy_row(self, rng: random.Random, length: int) -> tuple[list[int], list[float], list[int]]:
        level = self.curriculum.choose(rng, "copy")
        ids, weights, counted = [BOS_ID], [0.0], [-1]
        group = self.index[f"copy:{level}"]
        while len(ids) < length:
            size = rng.randint(*COPY_LEVELS[level])
            segment = [rng.randrange(len(SPECIAL), VOCABULARY) for _ in range(size)]
            times = rng.randint(2, 4)
            ids += segment * times
            weights += [0.0] * size + ([0.0] + [1.0] * (size - 1)) + [1.0] * size * (times - 2)
            counted += [-1] * size + ([-1] + [group] * (size - 1)) + [group] * size * (times - 2)
        return ids[:length], weights[:length], counted[:length]

    def _task_row(self, rng: random.Random, length: int, kinds: dict[str, float]):
        ids: list[int] = []
        weights: list[float] = []
        counted: list[int] = []
        misses = 0
        while len(ids) < length:
            kind = rng.choices(list(kinds), list(kinds.values()))[0]
            chat = generate(rng, kind, self.curriculum.choose(rng, kind), self.text.passage)
            if chat.held_out:
                continue
            more, weight = self.chat_ids(chat)
            if ids and rng.random() < 0.5:  # the same conversation goes on
                more, weight = more[1:], weight[1:]
            if len(ids) + len(more) > length:
                misses += 1
                if misses < 4 and length - len(ids) > 24:
                    continue
                rest = self.text.window(rng, "prose", length - len(ids)).tolist()
                return ids + rest, weights + [0.0] + [1.0] * (len(rest) - 1), counted + [-1] * len(rest)
            group = self.index[chat.group]
            ids, weights = ids + more, weights + weight
            counted += [group if w == 1.0 else -1 for w in weight]
        return ids, weights, counted

    def batch(self, rng: random.Random, rows: int, length: int, shares: Shares) -> Batch:
        size = length + 1
        ids = np.zeros((rows, size), dtype=np.int64)
        weights = np.zeros((rows, size), dtype=np.float32)
        groups = np.full((rows, size), -1, dtype=np.int64)
        for row in range(rows):
            draw = rng.random()
            if draw < shares.prose + shares.code:
                domain = "prose" if draw < shares.prose else "code"
                ids[row] = self.text.window(rng, domain, size)
                weights[row] = 1.0
            elif draw < shares.prose + shares.code + shares.copy:
                ids[row], weights[row], groups[row] = self._copy_row(rng, size)
            else:
                ids[row], weights[row], groups[row] = self._task_row(rng, size, shares.kinds)
        return Batch(ids, weights, groups, self.names)


def save_curriculum(curriculum: Curriculum, file: Path) -> None:
    file.write_text(json.dumps(curriculum.to_json()))
