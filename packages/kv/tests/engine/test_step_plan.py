"""A step's plan: decoding rows first, no prompt stands still, and nothing is left over that could be used."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.engine.sequence import Request, SamplingOptions, Sequence, SequenceState
from lifeboat_kv.engine.step_plan import LEAST_PROMPT_TOKENS, plan_step


def sequence(state: SequenceState, length: int, computed: int) -> Sequence:
    request = Request("r", "m", [1] * length, SamplingOptions(max_tokens=4), lambda event: None)
    return Sequence(request, 0, [1] * length, [1], None, state, computed=computed)


ROWS = st.builds(lambda n: sequence(SequenceState.DECODE, n + 1, n), st.integers(1, 300))
PROMPTS = st.builds(
    lambda done, left: sequence(SequenceState.PREFILL, done + left, done),
    st.integers(0, 300),
    st.integers(1, 5000),
)
OTHERS = st.sampled_from([SequenceState.FORKING, SequenceState.MAPPING]).map(lambda s: sequence(s, 40, 0))
RUNNING = st.lists(st.one_of(ROWS, PROMPTS, OTHERS), max_size=40)


@settings(deadline=None)
@given(RUNNING, st.integers(1, 600))
def test_rows_first_then_prompts_within_the_steps_tokens(running: list[Sequence], tokens: int) -> None:
    batch = plan_step(running, tokens)
    rows = [s for s in running if s.state is SequenceState.DECODE]
    prompts = [s for s in running if s.state is SequenceState.PREFILL]
    assert [s for s, _ in batch[: len(rows)]] == rows
    assert all(p.stop - p.start == 1 for _, p in batch[: len(rows)])
    given_out = {id(s): p.stop - p.start for s, p in batch[len(rows) :]}
    assert all(s.state is SequenceState.PREFILL for s, _ in batch[len(rows) :])
    assert all(0 < given_out[id(s)] <= s.pending for s in prompts if id(s) in given_out)
    room = max(LEAST_PROMPT_TOKENS, tokens - len(rows))
    assert sum(given_out.values()) == min(room, sum(s.pending for s in prompts))
    if prompts:
        # The first prompt has half or all it needs; then whoever has the least left.
        assert given_out[id(prompts[0])] >= min(prompts[0].pending, (room + 1) // 2)


@settings(deadline=None)
@given(st.integers(1, 5000), st.integers(16, 600))
def test_a_short_prompt_behind_a_long_one_does_not_wait_for_its_end(long: int, tokens: int) -> None:
    first, second = (sequence(SequenceState.PREFILL, n, 0) for n in (long + 600, 8))
    batch = {id(s): p for s, p in plan_step([first, second], tokens)}
    assert batch[id(second)].stop == 8


@settings(deadline=None)
@given(st.lists(st.integers(1, 2000), min_size=1, max_size=12), st.integers(0, 40))
def test_every_prompt_comes_to_its_end(lengths: list[int], rows: int) -> None:
    decoding = [sequence(SequenceState.DECODE, 5, 4) for _ in range(rows)]
    prompts = [sequence(SequenceState.PREFILL, n, 0) for n in lengths]
    most = sum(lengths) // LEAST_PROMPT_TOKENS + len(lengths)
    for _ in range(most):
        for seq, piece in plan_step([*decoding, *prompts], 48)[rows:]:
            seq.computed = piece.stop
        prompts = [s for s in prompts if s.pending]
    assert not prompts
