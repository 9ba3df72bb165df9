"""Who holds which block, and which blocks can be found again by (salt, token prefix).

A full block is named by a hash chained over the salt and all tokens up to its end. Blocks nobody
holds stay findable until they are needed, the least recently used first.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

from .kv_pool import BLOCK_TOKENS, NULL_BLOCK


@dataclass
class Block:
    """One block: its holders, the name it can be found by, and whether mapped rows shaped it."""

    number: int
    holders: int = 0
    name: bytes | None = None
    mapped: bool = False


def root_name(salt: str | None) -> bytes:
    """The chain's start for a salt; no salt is a partition of its own."""
    tag = b"none" if salt is None else b"salt:" + salt.encode()
    return hashlib.sha256(b"lifeboat-prefix\0" + tag).digest()


def extend_name(name: bytes, tokens: Sequence[int]) -> bytes:
    """The chain's next name after one full block of tokens."""
    return hashlib.sha256(name + array("q", tokens).tobytes()).digest()


class PrefixCache:
    """Block numbers 1 ... count, counted by holder and findable by name. Used by the step thread only."""

    def __init__(self, count: int) -> None:
        self._blocks = [Block(number) for number in range(count)]
        self._free = [number for number in range(count - 1, NULL_BLOCK, -1)]
        self._idle: OrderedDict[int, None] = OrderedDict()
        self._by_name: dict[bytes, int] = {}
        self.queried_tokens = 0
        self.hit_tokens = 0
        self.evicted_blocks = 0

    @property
    def available(self) -> int:
        """Blocks that can be taken now: empty ones and those that are only remembered."""
        return len(self._free) + len(self._idle)

    @property
    def held(self) -> int:
        """Blocks some sequence holds."""
        return len(self._blocks) - 1 - self.available

    @property
    def remembered(self) -> int:
        """Blocks nobody holds that a later prompt can still hit."""
        return len(self._idle)

    def find(
        self,
        salt: str | None,
        tokens: Sequence[int],
        *,
        native_salt: str | None = None,
        allow_mapped: bool = True,
    ) -> tuple[list[int], bytes]:
        """The longest remembered chain of full blocks for `tokens` and its name; takes no hold on them.

        The last token is never covered: its logits start the answer. With `allow_mapped` false the
        chain ends before the first block that mapped rows shaped. Blocks that the model computed itself
        are found under `native_salt` as well, and come before mapped ones of the same tokens.
        """
        found: list[int] = []
        name = root_name(salt)
        own = None if native_salt is None else root_name(native_salt)
        for start in range(0, (len(tokens) - 1) // BLOCK_TOKENS * BLOCK_TOKENS, BLOCK_TOKENS):
            span = tokens[start : start + BLOCK_TOKENS]
            longer = extend_name(name, span)
            number = self._by_name.get(longer)
            if own is not None:
                own = extend_name(own, span)
                native = self._by_name.get(own)
                if native is not None and not self._blocks[native].mapped:
                    number = native
            if number is None or (self._blocks[number].mapped and not allow_mapped):
                break
            found.append(number)
            name = longer
        return found, name

    def count_query(self, tokens: int, hit: int) -> None:
        """Records one prompt's tokens and how many of them were found."""
        self.queried_tokens += tokens
        self.hit_tokens += hit

    def hold(self, numbers: Sequence[int]) -> None:
        """Takes a hold on found blocks, so that they cannot be reused."""
        for number in numbers:
            block = self._blocks[number]
            if block.holders == 0:
                self._idle.pop(number, None)
            block.holders += 1

    def take(self, count: int) -> list[int] | None:
        """`count` blocks with one hold each, None (and nothing taken) where there are not enough."""
        if count > self.available:
            return None
        return [self._take_one() for _ in range(count)]

    def release(self, numbers: Sequence[int], *, forget: bool = False) -> None:
        """Gives holds back; a block without holders stays findable, unless it has no name.

        The last blocks of a chain go first to the reusable end: a prefix is worth more than its end.
        """
        for number in reversed(numbers):
            block = self._blocks[number]
            block.holders -= 1
            if block.holders > 0:
                continue
            if forget:
                self._forget(block)
            if block.name is None:
                block.mapped = False
                self._free.append(number)
            else:
                self._idle[number] = None

    def mark_mapped(self, numbers: Sequence[int]) -> None:
        """Says that rows of these blocks came from a mapper, or were computed on top of such rows."""
        for number in numbers:
            self._blocks[number].mapped = True

    def is_mapped(self, number: int) -> bool:
        """Whether mapped rows shaped this block."""
        return self._blocks[number].mapped

    def remember(self, number: int, name: bytes) -> None:
        """Makes a full block findable. A native block takes the place of a mapped one of that name."""
        block = self._blocks[number]
        if block.name is not None:
            return
        current = self._by_name.get(name)
        if current is not None:
            if not self._blocks[current].mapped or block.mapped:
                return
            self._unname(self._blocks[current])
        block.name = name
        self._by_name[name] = number

    def _unname(self, block: Block) -> None:
        self._forget(block)
        if block.holders == 0 and self._idle.pop(block.number, 0) is None:
            block.mapped = False
            self._free.append(block.number)

    def _forget(self, block: Block) -> None:
        if block.name is not None:
            self._by_name.pop(block.name, None)
            block.name = None

    def _take_one(self) -> int:
        if self._free:
            number = self._free.pop()
        else:
            number, _ = self._idle.popitem(last=False)
            self.evicted_blocks += 1
        block = self._blocks[number]
        self._forget(block)
        block.mapped = False
        block.holders = 1
        return number
