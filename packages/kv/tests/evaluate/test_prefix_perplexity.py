"""Prefix perplexity: where a text is cut, and that its second part is scored once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifeboat_kv.evaluate.prefix_perplexity import chunks, process_results, split_text


def test_a_text_is_cut_at_the_white_space_nearest_its_middle():
    assert split_text("aaaa bb cccccc") == ("aaaa bb", " cccccc")
    assert split_text(" a  b ") == ("a", "  b")
    assert split_text("one\nlong-word-at-the-end") == ("one", "\nlong-word-at-the-end")


def test_one_word_cannot_be_cut():
    with pytest.raises(ValueError, match="one word"):
        split_text("word")


@given(st.text(alphabet="ab \n", min_size=3, max_size=60))
def test_the_parts_are_the_text(text):
    try:
        first, rest = split_text(text)
    except ValueError:
        assert len(text.split()) < 2
        return
    assert first + rest == text.strip()
    assert first and rest.split()


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=40),
    st.lists(st.integers(0, 9), min_size=1, max_size=80),
    st.integers(2, 30),
)
def test_every_token_of_the_rest_is_scored_once_after_what_precedes_it(prefix, rest, window):
    found = chunks(prefix, rest, window)
    assert [token for _, wanted in found for token in wanted] == rest
    seen = list(prefix)
    for context, wanted in found:
        assert context and len(context) + len(wanted) <= window
        assert seen[len(seen) - len(context) :] == list(context)
        seen += wanted


def test_words_are_those_of_the_scored_part():
    found = process_results({"text": "one two three four five six"}, [-7.0])
    assert found["word_perplexity"] == (-7.0, 3)
    assert found["byte_perplexity"] == (-7.0, len(" four five six"))


def test_nothing_to_carry_across_is_refused():
    with pytest.raises(ValueError, match="prefix"):
        chunks([], [1, 2], 8)
