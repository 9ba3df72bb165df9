"""Verifiable tasks in chat form, graded by level. Every assistant message is a checkable answer.

One chat asks several questions about the same material, so that many answer tokens depend on one prompt.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from dataclasses import dataclass

from .sources import HELD_OUT_BELOW
from .words import WORDS

LETTERS = "abcdefghijklmnopqrstuvwxyz"
BRACKETS = {"(": ")", "[": "]", "{": "}"}
FOLLOW_UP_KINDS = ("recall", "lookup")
Prose = Callable[[random.Random, int], str]


def reserved(question: str) -> bool:
    """The rule of the held-out documents, applied to a question: one in sixteen, by digest."""
    return hashlib.sha256(question.encode()).digest()[0] < HELD_OUT_BELOW


@dataclass(frozen=True)
class Chat:
    kind: str
    level: int
    messages: tuple[tuple[str, str], ...]  # (role, content), user and assistant in turn

    @property
    def group(self) -> str:
        return f"{self.kind}:{self.level}"

    @property
    def questions(self) -> list[str]:
        """The questions that can be answered by themselves; `red?` after a list is not one."""
        asked = [content for role, content in self.messages if role == "user"]
        return asked[:1] if self.kind in FOLLOW_UP_KINDS else asked

    @property
    def held_out(self) -> bool:
        """Whether any question is reserved for corpus and evaluation; training skips such chats."""
        return any(reserved(question) for question in self.questions)


def _turns(questions: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(turn for ask, answer in questions for turn in (("user", ask), ("assistant", answer)))


def _between(rng: random.Random, bounds: tuple[int, int]) -> int:
    return rng.randint(*bounds)


def _pairs(rng: random.Random, count: int, digits: bool) -> list[tuple[str, str]]:
    words = rng.sample(WORDS, 2 * count if not digits else count)
    if digits:
        return [(word, str(rng.randint(10, 99))) for word in words]
    return list(zip(words[:count], words[count:], strict=True))


def _filler(rng: random.Random, prose: Prose, bounds: tuple[int, int]) -> str:
    size = _between(rng, bounds)
    return f" {prose(rng, size)}\n" if size else ""


# level -> (pairs, filler tokens, share of two-digit values)
RECALL = {
    1: ((2, 4), (0, 0), 0.0),
    2: ((4, 8), (0, 0), 0.0),
    3: ((4, 8), (0, 0), 1.0),
    4: ((8, 16), (0, 0), 0.5),
    5: ((8, 16), (40, 120), 0.5),
    6: ((12, 24), (120, 380), 0.5),
}


def recall(rng: random.Random, level: int, prose: Prose) -> Chat:
    """`red lion, blue 42.` ... `red?` -> `red lion`: key and value, at a growing distance."""
    bounds, filler, digits = RECALL[level]
    pairs = _pairs(rng, _between(rng, bounds), rng.random() < digits)
    listing = ", ".join(f"{key} {value}" for key, value in pairs) + "."
    asked = rng.sample(pairs, min(len(pairs), rng.randint(1, 6)))
    questions = [(f"{key}?", f"{key} {value}") for key, value in asked]
    first, answer = questions[0]
    questions[0] = (f"{listing}{_filler(rng, prose, filler)} {first}", answer)
    return Chat("recall", level, _turns(questions))


def lookup(rng: random.Random, level: int, prose: Prose) -> Chat:
    """The same list, but only the value is asked for: the key must be carried from the question."""
    bounds, filler, digits = RECALL[level]
    pairs = _pairs(rng, _between(rng, bounds), rng.random() < digits)
    listing = ", ".join(f"{key} {value}" for key, value in pairs) + "."
    asked = rng.sample(pairs, min(len(pairs), rng.randint(2, 6)))
    questions = [(f"value of {key}", value) for key, value in asked]
    first, answer = questions[0]
    questions[0] = (f"{listing}{_filler(rng, prose, filler)} {first}", answer)
    return Chat("lookup", level, _turns(questions))


# level -> (words, filler tokens, share of numbers, may repeat)
REPEAT = {
    1: ((3, 6), (0, 0), 0.0, False),
    2: ((6, 14), (0, 0), 0.0, False),
    3: ((12, 24), (0, 0), 0.1, False),
    4: ((20, 40), (0, 0), 0.2, True),
    5: ((12, 32), (40, 140), 0.2, True),
    6: ((16, 40), (120, 360), 0.2, True),
}


def _words(rng: random.Random, count: int, numbers: float, repeat: bool) -> list[str]:
    words = [rng.choice(WORDS) for _ in range(count)] if repeat else rng.sample(WORDS, count)
    return [str(rng.randint(10, 99)) if rng.random() < numbers else word for word in words]


def repeat(rng: random.Random, level: int, prose: Prose) -> Chat:
    """`list: a b c ... repeat` -> the list."""
    bounds, filler, numbers, again = REPEAT[level]
    listing = " ".join(_words(rng, _between(rng, bounds), numbers, again))
    return Chat(
        "repeat", level, _turns([(f"list: {listing}.{_filler(rng, prose, filler)} repeat the list", listing)])
    )


RECITE = {1: ((6, 14), (0, 0)), 2: ((14, 32), (0, 0)), 3: ((32, 64), (0, 0)), 4: ((24, 64), (30, 300))}


def recite(rng: random.Random, level: int, prose: Prose) -> Chat:
    """A passage, then the request to say it again."""
    bounds, filler = RECITE[level]
    passage = prose(rng, _between(rng, bounds))
    ask = f"passage: {passage}\n{_filler(rng, prose, filler)} repeat the passage"
    return Chat("recite", level, _turns([(ask, passage)]))


SIZES = {1: (2, 3), 2: (3, 5), 3: (5, 7), 4: (7, 10), 5: (10, 14)}


def reverse(rng: random.Random, level: int, prose: Prose) -> Chat:
    questions = []
    for _ in range(rng.randint(1, 4)):
        words = rng.sample(WORDS, _between(rng, SIZES[level]))
        questions.append(("reverse " + " ".join(words), " ".join(reversed(words))))
    return Chat("reverse", level, _turns(questions))


def sort(rng: random.Random, level: int, prose: Prose) -> Chat:
    questions = []
    for _ in range(rng.randint(1, 4)):
        items = rng.sample(LETTERS, _between(rng, SIZES[level]))
        if rng.random() < 0.3 and len(items) <= 10:
            items = [str(rng.randint(0, 9)) for _ in items]
        questions.append(("sort " + " ".join(items), " ".join(sorted(items))))
    return Chat("sort", level, _turns(questions))


def brackets(rng: random.Random, level: int, prose: Prose) -> Chat:
    """Opening brackets with some already closed; the answer closes the rest, innermost first."""
    questions = []
    for _ in range(rng.randint(1, 4)):
        depth, shown, stack = _between(rng, SIZES[level]), [], []
        while len(stack) < depth:
            if stack and rng.random() < 0.25:
                shown.append(BRACKETS[stack.pop()])
            else:
                stack.append(rng.choice("([{"))
                shown.append(stack[-1])
        questions.append(("close " + " ".join(shown), " ".join(BRACKETS[b] for b in reversed(stack))))
    return Chat("brackets", level, _turns(questions))


ADD = {1: (9, 9), 2: (49, 9), 3: (99, 9), 4: (49, 49), 5: (99, 99)}


def add(rng: random.Random, level: int, prose: Prose) -> Chat:
    questions = []
    for _ in range(rng.randint(2, 6)):
        left, right = rng.randint(0, ADD[level][0]), rng.randint(0, ADD[level][1])
        left, right = (left, right) if rng.random() < 0.5 else (right, left)
        questions.append((f"{left} + {right}", str(left + right)))
    return Chat("add", level, _turns(questions))


GENERATORS: dict[str, tuple[Callable[[random.Random, int, Prose], Chat], int]] = {
    "recall": (recall, 6),
    "lookup": (lookup, 6),
    "repeat": (repeat, 6),
    "recite": (recite, 4),
    "reverse": (reverse, 5),
    "sort": (sort, 5),
    "brackets": (brackets, 5),
    "add": (add, 5),
}


def generate(rng: random.Random, kind: str, level: int, prose: Prose) -> Chat:
    return GENERATORS[kind][0](rng, level, prose)


def render(messages: tuple[tuple[str, str], ...]) -> str:
    """The text the chat template gives for these messages (no generation prompt)."""
    parts = ["<|bos|>"]
    for role, content in messages:
        parts.append(f"<|{role}|> {content.strip()}" + ("<|eos|>" if role == "assistant" else ""))
    return "".join(parts)
