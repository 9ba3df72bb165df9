"""One tier of the memory that mappers live in: a budget, and who leaves when it is short."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass

from ..mapper.form import Mapper


@dataclass(frozen=True)
class HeldMapper:
    """A mapper in a tier, the served models that it joins, and what it measures."""

    sha256: str
    mapper: Mapper
    source: str
    target: str
    size: int
    load_ms: float


@dataclass(frozen=True)
class TierUse:
    """What a tier holds now."""

    name: str
    budget_bytes: int
    used_bytes: int
    count: int
    evicted: int


class MapperTier:
    """Mappers by digest, at most `budget_bytes` of them; the least recently used leave first.

    Not thread-safe: its owner has a lock.
    """

    def __init__(self, name: str, budget_bytes: int) -> None:
        self.name = name
        self.budget_bytes = budget_bytes
        self._held: OrderedDict[str, HeldMapper] = OrderedDict()
        self._evicted = 0

    def get(self, sha256: str) -> HeldMapper | None:
        """The mapper, which is now the one used last."""
        found = self._held.get(sha256)
        if found is not None:
            self._held.move_to_end(sha256)
        return found

    def put(self, held: HeldMapper) -> list[HeldMapper]:
        """Takes a mapper in; returns what had to leave for it, the mapper itself where it never fits."""
        self._held.pop(held.sha256, None)
        self._held[held.sha256] = held
        used = sum(one.size for one in self._held.values())
        gone: list[HeldMapper] = []
        while used > self.budget_bytes:
            gone.append(self._held.popitem(last=False)[1])
            used -= gone[-1].size
        self._evicted += len(gone)
        return gone

    def pop(self, sha256: str) -> HeldMapper | None:
        """Takes a mapper out."""
        return self._held.pop(sha256, None)

    def all(self) -> list[HeldMapper]:
        """What is held, the least recently used first."""
        return list(self._held.values())

    def use(self) -> TierUse:
        """What is held, in numbers."""
        used = sum(one.size for one in self._held.values())
        return TierUse(self.name, self.budget_bytes, used, len(self._held), self._evicted)
