"""Every generated answer is checked by a reader that knows only the question's text."""

import random
import re

import pytest

from lifeboat_kv.family.tasks import GENERATORS, generate, reserved

PAIR = re.compile(r"([a-z]+) ([a-z]+|\d\d)(?=[,.])")
CLOSES = {")": "(", "]": "[", "}": "{"}


def prose(rng: random.Random, tokens: int) -> str:
    return " ".join(rng.choice(("Lorem", "Ipsum", "Dolor")) for _ in range(max(1, tokens // 3)))


def solve(kind: str, question: str, first: str) -> str:
    """The answer, from the question and the chat's first question alone."""
    if kind in ("recall", "lookup"):
        pairs = dict(PAIR.findall(first.split(".")[0] + "."))
        key = question.rstrip("?").split()[-1]
        return f"{key} {pairs[key]}" if kind == "recall" else pairs[key]
    if kind == "repeat":
        return question.removeprefix("list: ").split(".")[0]
    if kind == "recite":
        return question.removeprefix("passage: ").split("\n")[0]
    items = question.split()[1:]
    if kind == "reverse":
        return " ".join(items[::-1])
    if kind == "sort":
        return " ".join(sorted(items))
    if kind == "add":
        left, _, right = question.split()
        return str(int(left) + int(right))
    return "".join(items)


def closes(opening: str, answer: str) -> bool:
    stack: list[str] = []
    for bracket in opening + answer:
        if bracket in CLOSES:
            if not stack or stack.pop() != CLOSES[bracket]:
                return False
        else:
            stack.append(bracket)
    return not stack


@pytest.mark.parametrize("kind", sorted(GENERATORS))
def test_answers_are_right(kind: str) -> None:
    rng = random.Random(kind)
    for level in range(1, GENERATORS[kind][1] + 1):
        for _ in range(20):
            messages = generate(rng, kind, level, prose).messages
            first = messages[0][1]
            for (_, question), (_, answer) in zip(messages[::2], messages[1::2], strict=True):
                if kind == "brackets":
                    assert closes(solve(kind, question, first), answer.replace(" ", ""))
                else:
                    assert answer == solve(kind, question, first)


def test_about_one_question_in_sixteen_is_reserved() -> None:
    share = sum(reserved(f"{a} + {b}") for a in range(100) for b in range(100)) / 10_000
    assert 0.05 < share < 0.075
