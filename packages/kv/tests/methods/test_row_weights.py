"""Attention mass against a model's own attention weights, and what rows count."""

from __future__ import annotations

import pytest
import torch
from tiny import tiny_model

from lifeboat_kv.corpora import Sequence
from lifeboat_kv.errors import UsageError
from lifeboat_kv.mapper.tail import tail_length
from lifeboat_kv.methods import ATTENTION, FIRST, FIRST_WEIGHT, PLAIN
from lifeboat_kv.models.grouped_attention import use_grouped_attention
from lifeboat_kv.moments.attention_mass import QUERY_STEP, AttentionMass, watching
from lifeboat_kv.moments.capture import padded, prefill
from lifeboat_kv.moments.row_weights import row_weights

LENGTHS = [90, 41, 66]


def watched(grouped: bool, first: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """What was taken, and the same from eager attention weights in float64."""
    model = tiny_model()
    sequences = [Sequence(str(n), "a", tuple((7 * i + n) % 90 + 4 for i in range(n))) for n in LENGTHS]
    ids = padded(sequences, "cpu")
    if grouped:
        use_grouped_attention(model)
    before = model.config._attn_implementation
    mass = AttentionMass(LENGTHS, first)
    with watching(model, mass):
        ours = prefill(model, ids)[1]
    assert model.config._attn_implementation == before
    torch.testing.assert_close(prefill(model, ids)[1], ours)
    model.set_attn_implementation("eager")
    paid = torch.zeros(len(LENGTHS), max(LENGTHS), dtype=torch.float64)
    weights = model(ids, output_attentions=True).attentions
    for row, length in enumerate(LENGTHS):
        for query in range(first[row], length, QUERY_STEP):
            far = query + 1 - tail_length(query + 1)
            for layer in weights:
                paid[row, :far] += layer[row, :, query, :far].double().mean(0) / len(weights)
    return mass.paid, paid


@pytest.mark.parametrize(("grouped", "first"), [(True, [0, 7, 2]), (False, [5, 5, 0])])
def test_what_is_taken_is_the_models_own_attention(grouped: bool, first: int) -> None:
    taken, exact = watched(grouped, first)
    torch.testing.assert_close(taken.double(), exact, rtol=1e-4, atol=1e-6)
    assert (taken[1, LENGTHS[1] :] == 0).all()


def test_a_model_that_cannot_be_watched_says_so() -> None:
    model = tiny_model()
    model.set_attn_implementation("eager")
    mass = AttentionMass([20], [0])
    with watching(model, mass):
        prefill(model, torch.arange(4, 24)[None])
    with pytest.raises(UsageError) as raised:
        _ = mass.paid
    assert raised.value.code == "NO_ATTENTION"


def test_weights_by_attention_have_a_mean_of_one_and_leave_exact_rows_out() -> None:
    rows = torch.tensor([0, 0, 0, 0, 1, 1]), torch.tensor([0, 1, 4, 9, 0, 3])
    paid = torch.zeros(2, 10)
    paid[0, [0, 1, 4, 9]] = torch.tensor([9.0, 5.0, 3.0, 1.0])
    paid[1, [0, 3]] = torch.tensor([2.0, 6.0])
    found = row_weights(ATTENTION, rows, [10, 4], [2, 0], paid)
    torch.testing.assert_close(found, torch.tensor([0.0, 0.0, 1.5, 0.5, 0.5, 1.5]))


def test_other_weightings() -> None:
    rows = torch.tensor([0, 0, 0]), torch.tensor([0, 3, 4])
    assert row_weights(PLAIN, rows, [5], [1], None) is None
    assert row_weights(FIRST, rows, [5], [1], None).tolist() == [FIRST_WEIGHT, FIRST_WEIGHT, 1.0]
    with pytest.raises(ValueError, match="not taken"):
        row_weights(ATTENTION, rows, [5], [1], None)
    with pytest.raises(ValueError, match="no weighting"):
        row_weights("heavy", rows, [5], [1], None)
