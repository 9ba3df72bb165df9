"""Who starts when: places with hysteresis, bounded overtaking, and progress for what is in flight."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.engine.sequence import DoneEvent, FailedEvent, Request, SamplingOptions, SequenceState
from lifeboat_kv.engine.slots import PATIENCE_STEPS, SlotGate
from lifeboat_kv.engine.waiting_line import LOOK_AHEAD, MOST_PASSES, WaitingLine

from .traffic import BLOCKS, Traffic


def waiting(name: int) -> Request:
    return Request(str(name), "m", [1], SamplingOptions(max_tokens=1), lambda event: None)


class TestSlots:
    def test_a_full_house_opens_again_when_a_share_is_free(self) -> None:
        gate = SlotGate(64)
        gate.taken(64)
        assert next(n for n in range(64, 40, -1) if gate.admits(n, 1)) == 56
        # Open again, it takes in one after another until it is full.
        assert gate.admits(63, 1)
        gate.taken(64)
        assert not gate.admits(63, 1)

    @settings(deadline=None)
    @given(st.integers(1, 200), st.lists(st.tuples(st.booleans(), st.integers(1, 8)), max_size=60))
    def test_never_more_than_there_are_and_never_closed_for_good(
        self, most: int, moves: list[tuple[bool, int]]
    ) -> None:
        gate, running = SlotGate(most), 0
        for joins, count in moves:
            if not joins:
                running = max(0, running - count)
            elif count <= most and gate.admits(running, count):
                running += count
                gate.taken(running)
            assert running <= most
        assert gate.admits(0, most), "an empty house is always open"

    def test_one_free_place_is_not_withheld_for_long(self) -> None:
        """Sixty-three long answers must not keep a short question out until eight of them are over."""
        gate = SlotGate(64)
        gate.taken(64)
        for _ in range(PATIENCE_STEPS):
            assert not gate.admits(63, 1)
            gate.stepped(63, waiting=1)
        assert gate.admits(63, 1)
        gate.taken(64)
        gate.stepped(63, waiting=1)
        assert not gate.admits(63, 1)


class TestWaitingLine:
    @settings(max_examples=200, deadline=None)
    @given(st.lists(st.sampled_from(["join", "start"]), max_size=200), st.data())
    def test_nobody_is_passed_more_often_than_allowed(self, moves: list[str], data: Any) -> None:
        line, order, count = WaitingLine(), [], 0
        passed: dict[str, int] = {}
        for move in moves:
            if move == "join" or not len(line):
                request = waiting(count)
                count += 1
                line.join(request)
                order.append(request.id)
                passed[request.id] = 0
                continue
            choice = data.draw(st.sampled_from(line.candidates()))
            for name in order[: order.index(choice.id)]:
                passed[name] += 1
            order.remove(choice.id)
            line.leave(choice)
            assert [r.id for r in line] == order
            assert max(passed.values()) <= MOST_PASSES

    def test_only_so_many_are_looked_at(self) -> None:
        line = WaitingLine()
        for number in range(3 * LOOK_AHEAD):
            line.join(waiting(number))
        assert len(line.candidates()) == LOOK_AHEAD


class TestOvertaking:
    def test_small_ones_pass_a_large_one_that_does_not_fit_and_it_still_comes_to_its_turn(self) -> None:
        traffic = Traffic()
        traffic.submit(0, 200, 100)
        traffic.run(2)
        traffic.submit(1, 400, 150)
        started: list[str] = []
        for number in range(2, 40):
            traffic.submit(number, 17, 12, letter=70)
        while traffic.scheduler.busy:
            traffic.run(1)
            for seq in traffic.scheduler.running:
                if seq.request.id not in started:
                    started.append(seq.request.id)
        large = started.index("1")
        assert 1 < large <= 1 + MOST_PASSES
        assert len(started) == 40
        assert all(isinstance(events[-1], DoneEvent) for events in traffic.events.values())

    def test_a_large_one_that_fits_is_passed_by_nobody(self) -> None:
        traffic = Traffic()
        traffic.submit(0, 400, 100)
        traffic.submit(1, 17, 4)
        traffic.scheduler.step()
        assert [s.request.id for s in traffic.scheduler.running] == ["0", "1"]

    @settings(max_examples=60, deadline=None)
    @given(
        st.lists(
            st.tuples(st.integers(1, 500), st.integers(1, 100), st.integers(1, 6), st.integers(0, 3)),
            min_size=1,
            max_size=40,
        )
    )
    def test_whoever_is_let_in_the_line_gets_an_answer(self, asked: list[tuple[int, int, int, int]]) -> None:
        traffic = Traffic()
        for number, (length, answer, n, pause) in enumerate(asked):
            traffic.submit(number, length, answer, n, letter=65 + number % 7)
            traffic.run(pause)
        traffic.run(20_000)
        assert not traffic.scheduler.busy
        assert all(isinstance(events[-1], DoneEvent) for events in traffic.events.values())
        assert traffic.scheduler.cache.available == BLOCKS


class TestProgress:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.integers(1, 300), st.integers(2, 40)), min_size=1, max_size=12))
    def test_every_step_advances_every_decoding_row_and_some_prompt(
        self, asked: list[tuple[int, int]]
    ) -> None:
        traffic = Traffic()
        for number, (length, answer) in enumerate(asked):
            traffic.submit(number, length, answer, letter=65 + number % 5)
        while traffic.scheduler.busy:
            rows = [s for s in traffic.scheduler.running if s.state is SequenceState.DECODE]
            prompts = [s for s in traffic.scheduler.running if s.state is SequenceState.PREFILL]
            before = {id(s): (s.produced, s.computed) for s in [*rows, *prompts]}
            assert traffic.scheduler.step()
            assert all(s.produced == before[id(s)][0] + 1 for s in rows)
            if prompts:
                assert any(s.computed > before[id(s)][1] for s in prompts)

    def test_a_prompt_that_breaks_the_step_ends_alone(self) -> None:
        traffic = Traffic()
        traffic.submit(0, 20, 30)
        traffic.run(3)
        said = traffic.tokens(0)

        def no_prompts(pieces: Any) -> None:
            if any(p.stop - p.start > 1 for p in pieces):
                raise MemoryError("no room for so many tokens")

        traffic.watch = no_prompts
        traffic.submit(1, 50, 10, letter=80)
        traffic.run(2)
        assert traffic.tokens(0) == said + 2
        assert isinstance(traffic.events["1"][-1], FailedEvent)
        traffic.run(100)
        assert isinstance(traffic.events["0"][-1], DoneEvent)
        assert traffic.tokens(0) == 30
        assert traffic.scheduler.cache.available == BLOCKS

    def test_a_request_that_cannot_be_started_ends_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        traffic = Traffic()
        traffic.submit(0, 20, 30)
        traffic.run(3)
        with monkeypatch.context() as patch:

            def broken(*given: Any, **named: Any) -> None:
                raise RuntimeError("no sequence could be made")

            patch.setattr(traffic.scheduler.places, "place", broken)
            traffic.submit(1, 50, 10)
            traffic.run(2)
        assert isinstance(traffic.events["1"][-1], FailedEvent)
        traffic.run(100)
        assert isinstance(traffic.events["0"][-1], DoneEvent)

    def test_a_short_question_gets_its_place_beside_long_answers(self) -> None:
        traffic = Traffic(max_batch=8)
        traffic.scheduler._gate.spare = 8
        for number in range(7):
            traffic.submit(number, 2, 75, letter=65 + number)
        traffic.submit(7, 2, 3, letter=90)
        traffic.run(3)
        assert len(traffic.scheduler.running) == 8
        traffic.submit(8, 2, 3, letter=91)
        steps = 0
        while not traffic.tokens(8):
            traffic.run(1)
            steps += 1
        # Its place was free after a few steps; that it waited at all is the hysteresis.
        assert PATIENCE_STEPS < steps < PATIENCE_STEPS + 8

    def test_a_full_house_decodes_alone_until_a_share_of_it_is_free(self) -> None:
        """Were each place filled at once, most steps would carry a prompt for as long as anybody waits."""

        def steps_with_prompts(spare: int) -> int:
            traffic, found = Traffic(max_batch=16), 0
            traffic.scheduler._gate.spare = spare
            for number in range(48):
                traffic.submit(number, 1 + number % 5, 3 + number % 11, letter=65 + number % 9)
            while traffic.scheduler.busy:
                found += any(s.state is SequenceState.PREFILL for s in traffic.scheduler.running)
                traffic.run(1)
            assert all(isinstance(events[-1], DoneEvent) for events in traffic.events.values())
            return found

        assert steps_with_prompts(4) < steps_with_prompts(1)
