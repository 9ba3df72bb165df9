"""Drift: with maps that change nothing it is none; with wrong ones it is seen, and grows."""

from __future__ import annotations

import json

import pytest
import torch
from tiny import tiny_model, tiny_tokenizer

from lifeboat_kv.errors import CorpusError
from lifeboat_kv.mapper.form import LayerMap, Mapper
from lifeboat_kv.measure.conversations import Conversation, conversations
from lifeboat_kv.measure.drift import drift
from lifeboat_kv.models.grouped_attention import use_grouped_attention
from lifeboat_kv.models.side import Side
from lifeboat_kv.rotation.rope import Rope

FACTS = {"num_hidden_layers": 3, "num_key_value_heads": 2, "head_dim": 16}


@pytest.fixture(scope="module")
def side() -> Side:
    torch.set_num_threads(1)
    model = tiny_model()
    use_grouped_attention(model)
    return Side(model, Rope.from_model(model))


def mapper(scale: float) -> Mapper:
    eye, zero = torch.eye(32), torch.zeros(32)
    return Mapper(
        "ridge", FACTS, FACTS, tuple(LayerMap((i,), (i,), eye * scale, zero, eye, zero) for i in range(3))
    )


CHATS = [
    Conversation(f"c{i}", tuple(tuple(range(4 + i + t, 34 + 2 * i + t)) for t in range(4))) for i in range(2)
]


def test_maps_that_change_nothing_leave_no_drift(side) -> None:
    for rows in drift(side, side, mapper(1.0), mapper(1.0), frozenset({9}), CHATS).values():
        assert [r["turn"] for r in rows] == [1, 2, 3, 4]
        assert [r["direction"] for r in rows] == ["up", "down", "up", "down"]
        assert all(r["retention"] == 1.0 and r["n"] == 2 and r["positions"] >= 2 for r in rows)


def test_a_wrong_map_down_shows_at_down_turns_and_is_carried_up_again(side) -> None:
    told = drift(side, side, mapper(1.0), mapper(0.2), frozenset(), CHATS)
    for rows in told.values():
        assert rows[0]["retention"] == 1.0 and rows[1]["retention"] < 0.9
    # All rows went through the wrong map at turn 2 and come back; of those known already none does.
    assert told["all"][2]["retention"] < 1.0
    assert told["all"][2]["retention"] <= told["new"][2]["retention"]


def test_chats_are_read_from_messages_and_from_rendered_text(tmp_path) -> None:
    tokenizer = tiny_tokenizer()
    tokenizer.chat_template = (
        "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}<|user|> {{ m['content'] }} "
        "{% else %}<|assistant|> {{ m['content'] }} <|eos|>{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    messages = [
        {"role": r, "content": c} for r, c in (("user", "w1 w2"), ("assistant", "w3"), ("user", "w4"))
    ]
    text = "<|bos|><|user|> w1 w2 <|assistant|> w3 <|eos|><|user|> w4 <|assistant|> w5 <|eos|>"
    rows = [{"id": "m", "messages": messages}, {"id": "t", "text": text}, {"id": "p", "text": "w1 w2"}]
    file = tmp_path / "chats.jsonl"
    file.write_text("".join(json.dumps(r) + "\n" for r in rows))
    found = conversations(file, tokenizer, 2, 9)
    assert [c.id for c in found] == ["m", "t"] and found[0].turns == found[1].turns
    spoken = [tokenizer.convert_ids_to_tokens(t) for t in found[0].turns]
    assert spoken == [
        ["<|bos|>", "<|user|>", "w1", "w2", "<|assistant|>"],
        ["<|eos|>", "<|user|>", "w4", "<|assistant|>"],
    ]
    with pytest.raises(CorpusError) as raised:
        conversations(file, tokenizer, 3, 9)
    assert raised.value.code == "CHATS_TOO_SHORT" and raised.value.exit_code == 5
