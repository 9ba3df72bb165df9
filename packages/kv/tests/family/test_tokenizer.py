"""The shared tokenizer: round trips, single-token words, split digits, and the chat template."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer

from lifeboat_kv.family.tasks import render
from lifeboat_kv.family.tokenizer import ASSISTANT_ID, BOS_ID, EOS_ID, USER_ID, VOCABULARY
from lifeboat_kv.family.words import WORDS

MODELS = Path(__file__).parents[4] / "models"
TOKENIZER = AutoTokenizer.from_pretrained(MODELS / "pilot")


def ids(text: str) -> list[int]:
    return TOKENIZER(text, add_special_tokens=False)["input_ids"]


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=80))
def test_every_text_comes_back(text: str) -> None:
    if "<|" not in text:
        assert TOKENIZER.decode(ids(text), clean_up_tokenization_spaces=False) == text


def test_one_file_for_all_three_models() -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert len({(MODELS / model / name).read_bytes() for model in ("pilot", "target", "odd")}) == 1


def test_words_are_single_tokens_and_digits_are_split() -> None:
    assert len(TOKENIZER) == VOCABULARY
    assert all(len(ids(" " + word)) == 1 for word in WORDS)
    assert len(ids(" 4096")) == 4


def test_the_template_gives_what_training_rendered() -> None:
    turns = (("user", "red lion, blue 42. red?"), ("assistant", "red lion"), ("user", "blue?"))
    messages = [{"role": role, "content": content} for role, content in turns]
    text = TOKENIZER.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    assert text == render(turns) + "<|assistant|>"
    found = ids(text)
    assert found[:2] == [BOS_ID, USER_ID] and found[-1] == ASSISTANT_ID and EOS_ID in found


def test_an_answer_keeps_its_tokens_when_it_is_rendered_again() -> None:
    answer = ids(" red lion 42")
    prompt = [{"role": "user", "content": "red?"}]
    rendered = [*prompt, {"role": "assistant", "content": TOKENIZER.decode(answer)}]
    text = TOKENIZER.apply_chat_template(rendered, tokenize=False)
    assert ids(text)[-len(answer) - 1 :] == [*answer, EOS_ID]


def test_an_unknown_role_is_refused() -> None:
    with pytest.raises(Exception, match="unknown role"):
        TOKENIZER.apply_chat_template([{"role": "tool", "content": "x"}], tokenize=False)
