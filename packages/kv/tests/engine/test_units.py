"""The engine's parts on their own: blocks, prefix names, staging, text and sampling."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lifeboat_kv.engine.kv_pool import BLOCK_TOKENS, KvPool, KvShape, blocks_needed, slots_for
from lifeboat_kv.engine.prefix_cache import PrefixCache, extend_name, root_name
from lifeboat_kv.engine.sampling import choose_tokens, make_generator
from lifeboat_kv.engine.sequence import Request, SamplingOptions, Sequence, SequenceState
from lifeboat_kv.engine.staging import StagingStore
from lifeboat_kv.engine.text import TextStream


class TestPool:
    SHAPE = KvShape(layers=3, kv_heads=2, head_dim=8, dtype=torch.float32)

    def test_what_is_written_is_read_back_and_gathered(self) -> None:
        pool = KvPool(self.SHAPE, self.SHAPE.bytes_per_block * 10, torch.device("cpu"))
        rows = [(torch.randn(2, 37, 8), torch.randn(2, 37, 8)) for _ in range(3)]
        for part in (slice(0, 20), slice(20, 37)):
            for layer, (k, v) in enumerate(rows):
                slots = slots_for([5, 2, 7], part.start, part.stop)
                pool.write(layer, slots, k[:, part], v[:, part])
        for (k, v), (k2, v2) in zip(rows, pool.read([5, 2, 7], 37), strict=True):
            assert torch.equal(k, k2)
            assert torch.equal(v, v2)
        k, v = pool.gather(1, torch.tensor([[5, 2, 7], [2, 0, 0]]))
        assert torch.equal(k[0, :, :37], rows[1][0])
        assert torch.equal(v[1, :, :16], rows[1][1][:, 16:32])
        assert not k[1, :, 16:].any()

    def test_clear_and_copy(self) -> None:
        pool = KvPool(self.SHAPE, self.SHAPE.bytes_per_block * 6, torch.device("cpu"))
        for layer in range(3):
            pool.write(layer, slots_for([3], 0, 16), *(torch.full((2, 16, 8), torch.nan),) * 2)
        pool.copy_block(3, 4)
        assert pool.read([4], 16)[2][0].isnan().all()
        pool.clear([3, 4])
        assert all(not layer.any() for layer in pool.layers)

    def test_a_budget_without_room_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="no block"):
            KvPool(self.SHAPE, 10, torch.device("cpu"))

    def test_slots(self) -> None:
        assert slots_for([4, 9], 14, 18).tolist() == [78, 79, 144, 145]
        assert [blocks_needed(n) for n in (0, 1, 16, 17)] == [0, 1, 1, 2]


class TestPrefixCache:
    def fill(
        self, cache: PrefixCache, salt: str | None, tokens: list[int], *, mapped: bool = False
    ) -> list[int]:
        numbers = cache.take(len(tokens) // BLOCK_TOKENS)
        name = root_name(salt)
        for at, number in enumerate(numbers):
            name = extend_name(name, tokens[at * BLOCK_TOKENS : (at + 1) * BLOCK_TOKENS])
            if mapped:
                cache.mark_mapped([number])
            cache.remember(number, name)
        return numbers

    def test_salts_are_apart_and_none_is_no_empty_salt(self) -> None:
        cache, tokens = PrefixCache(20), list(range(33))
        cache.release(self.fill(cache, "a", tokens[:32]))
        assert len(cache.find("a", tokens)[0]) == 2
        for other in ("b", "", None, "a\0", "A"):
            assert cache.find(other, tokens)[0] == []

    def test_the_last_token_is_never_covered(self) -> None:
        cache, tokens = PrefixCache(20), list(range(32))
        cache.release(self.fill(cache, None, tokens))
        assert len(cache.find(None, tokens)[0]) == 1

    def test_mapped_blocks_can_be_left_out_and_are_replaced_by_native_ones(self) -> None:
        cache, tokens = PrefixCache(20), list(range(33))
        cache.release(self.fill(cache, "x", tokens[:32], mapped=True))
        assert len(cache.find("x", tokens)[0]) == 2
        assert cache.find("x", tokens, allow_mapped=False)[0] == []
        native = self.fill(cache, "x", tokens[:32])
        cache.release(native)
        assert cache.find("x", tokens, allow_mapped=False)[0] == native

    def test_the_oldest_goes_first_and_a_chain_from_its_end(self) -> None:
        cache = PrefixCache(7)
        old, new = list(range(48)), list(range(100, 148))
        cache.release(self.fill(cache, None, old))
        cache.release(self.fill(cache, None, new))
        assert cache.available == 6
        cache.release(cache.take(2))
        assert len(cache.find(None, [*old, 1])[0]) == 1
        assert len(cache.find(None, [*new, 1])[0]) == 3

    def test_what_is_held_is_never_taken(self) -> None:
        cache = PrefixCache(5)
        held = self.fill(cache, None, list(range(32)))
        assert cache.take(3) is None
        assert set(cache.take(2)).isdisjoint(held)

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 5), st.booleans()), max_size=60))
    def test_blocks_are_conserved(self, moves: list[tuple[int, int, bool]]) -> None:
        cache, holders = PrefixCache(13), []
        for kind, size, mapped in moves:
            tokens = [(kind * 7 + i) % 5 for i in range(size * BLOCK_TOKENS + 1)]
            if kind < 2:
                found, _ = cache.find("s", tokens, allow_mapped=mapped)
                cache.hold(found)
                fresh = cache.take(size - len(found))
                if fresh is None:
                    cache.release(found)
                    continue
                name = root_name("s")
                for at, number in enumerate([*found, *fresh]):
                    name = extend_name(name, tokens[at * BLOCK_TOKENS : (at + 1) * BLOCK_TOKENS])
                    if at >= len(found):
                        if mapped:
                            cache.mark_mapped([number])
                        cache.remember(number, name)
                holders.append([*found, *fresh])
            elif holders:
                cache.release(holders.pop(random.Random(size).randrange(len(holders))))
            in_use = {number for numbers in holders for number in numbers}
            assert 0 not in in_use
            assert cache.held == len(in_use)
            assert cache.held + cache.available == 12
        for numbers in holders:
            cache.release(numbers)
        assert cache.available == 12


class Clock:
    """Time that a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class TestStaging:
    LAYERS = [(torch.ones(2, 5, 4), torch.full((2, 5, 4), 2.0))] * 3
    SIZE = 3 * 2 * 2 * 5 * 4 * 4

    def put(self, store: StagingStore, handle: str = "h", ttl_ms: int = 1000) -> int | None:
        return store.put(handle, "mac", "pilot", range(5), self.LAYERS, ttl_ms)

    def test_taken_once_with_its_rows(self) -> None:
        store = StagingStore(10_000)
        assert self.put(store) == self.SIZE == store.used_bytes
        entry = store.take("h", "mac")
        assert entry.tokens == (0, 1, 2, 3, 4)
        rows = entry.rows(1, 4, torch.device("cpu"))
        assert rows[2][1].shape == (2, 3, 4)
        assert (rows[0][0] == 1).all()
        assert (rows[2][1] == 2).all()
        assert store.take("h", "mac") is None
        store.free(entry)
        store.free(entry)
        assert store.used_bytes == 0

    def test_a_wrong_mac_or_a_late_one_gets_nothing_and_ends_it(self) -> None:
        clock = Clock()
        store = StagingStore(10_000, clock)
        self.put(store)
        assert store.take("h", "other") is None
        assert store.take("h", "mac") is None
        self.put(store, ttl_ms=1000)
        clock.now = 1.0
        assert store.take("h", "mac") is None
        assert store.used_bytes == 0

    def test_what_could_not_be_copied_does_not_count(self) -> None:
        store = StagingStore(10_000)
        odd = [*self.LAYERS[:2], (torch.ones(2, 4, 4), torch.ones(2, 4, 4))]
        with pytest.raises(RuntimeError):
            store.put("h", "mac", "pilot", range(5), odd, 1000)
        assert store.used_bytes == 0
        assert self.put(store) == self.SIZE

    def test_the_budget_holds_and_expiry_frees_it(self) -> None:
        clock = Clock()
        store = StagingStore(self.SIZE * 2, clock)
        assert self.put(store, "a") == self.put(store, "b") == self.SIZE
        assert self.put(store, "c") is None
        assert self.put(store, "a") is None
        clock.now = 5.0
        assert store.sweep() == 2
        assert self.put(store, "c") == self.SIZE

    def test_freed_memory_is_zero(self) -> None:
        store = StagingStore(10_000)
        self.put(store)
        entry = store.take("h", "mac")
        view = entry.memory.view(entry.shape, entry.dtype)
        assert view.any()
        store.free(entry)
        assert not view.any()


class Letters:
    """A tokenizer of raw bytes: what byte-level BPE does to characters of several bytes."""

    def decode(self, ids: list[int], **_: Any) -> str:
        return bytes(ids).decode("utf-8", errors="replace")


class TestText:
    @settings(max_examples=100, deadline=None)
    @given(st.text(max_size=40))
    def test_pieces_make_the_whole_and_never_split_a_character(self, text: str) -> None:
        stream = TextStream(Letters())
        pieces = [stream.push(byte)[0] for byte in text.encode()]
        assert "".join(pieces) + stream.finish() == text
        if "�" not in text:
            assert all("�" not in piece for piece in pieces)

    @settings(max_examples=150, deadline=None)
    @given(
        st.text(alphabet="abc", max_size=30),
        st.lists(st.text(alphabet="abc", min_size=1, max_size=4), max_size=3),
    )
    def test_stops_cut_where_the_whole_text_would(self, text: str, stops: list[str]) -> None:
        stream, said, hit = TextStream(Letters(), stop=stops), "", None
        for end, byte in enumerate(text.encode(), start=1):
            piece, hit = stream.push(byte)
            said += piece
            if hit:
                assert said == text[:end][: min(text[:end].find(s) for s in stops if s in text[:end])]
                return
            assert not any(stop in text[:end] for stop in stops)
        assert said + stream.finish() == text

    def test_an_unfinished_character_comes_at_the_end(self) -> None:
        stream = TextStream(Letters())
        assert [stream.push(b)[0] for b in "漢".encode()[:2]] == ["", ""]
        assert stream.finish() == "�"


def sequence(tokens: list[int], **options: Any) -> Sequence:
    """A sequence in the middle of its answer, for sampling."""
    sampling = SamplingOptions(max_tokens=10, **options)
    request = Request("r", "m", tokens[:1], sampling, emit=lambda event: None)
    made = Sequence(request, 0, tokens, [], TextStream(Letters()), SequenceState.DECODE)
    made.generator = make_generator(sampling, 0)
    return made


class TestSampling:
    def test_greedy_and_its_logprobs(self) -> None:
        logits = torch.tensor([[0.0, 3.0, 1.0], [5.0, 0.0, 0.0]])
        rows = [sequence([0], temperature=0, logprobs=2), sequence([0], temperature=0)]
        (first, found), (second, none) = choose_tokens(logits, rows)
        assert (first, second, none) == (1, 0, None)
        expected = logits[0].log_softmax(0)
        assert found.chosen == pytest.approx(float(expected[1]))
        assert [token for token, _ in found.top] == [1, 2]

    @pytest.mark.parametrize(
        ("options", "allowed"),
        [({"top_k": 2}, {0, 1}), ({"top_p": 0.6}, {0, 1}), ({"top_p": 0.4}, {0}), ({"min_p": 0.5}, {0, 1})],
    )
    def test_cuts(self, options: dict[str, Any], allowed: set[int]) -> None:
        logits = torch.tensor([[0.5, 0.3, 0.15, 0.05]]).log()
        row = sequence([0], seed=1, **options)
        assert {choose_tokens(logits, [row])[0][0] for _ in range(200)} == allowed

    def test_draws_follow_the_distribution(self) -> None:
        logits = torch.tensor([[0.5, 0.3, 0.2]]).log()
        row = sequence([0], seed=3)
        counts = torch.bincount(torch.tensor([choose_tokens(logits, [row])[0][0] for _ in range(3000)]))
        assert counts / 3000 == pytest.approx(torch.tensor([0.5, 0.3, 0.2]), abs=0.04)

    def test_penalties_bias_and_ban(self) -> None:
        logits = torch.tensor([[2.0, 1.9, 0.0]])
        assert choose_tokens(logits, [sequence([1, 0], temperature=0, presence_penalty=1.0)])[0][0] == 1
        assert choose_tokens(logits, [sequence([1, 0, 0], temperature=0, frequency_penalty=0.2)])[0][0] == 1
        assert choose_tokens(logits, [sequence([0], temperature=0, repetition_penalty=1.5)])[0][0] == 1
        assert choose_tokens(logits, [sequence([1], temperature=0, logit_bias={2: 5.0})])[0][0] == 2
        early = sequence([1], temperature=0, min_tokens=1)
        early.ends = frozenset({0})
        assert choose_tokens(logits, [early])[0][0] == 1
