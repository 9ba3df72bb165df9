"""What of a memory is free by measurement, and what of that was promised already."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ResourceError

# Kept out of all budgets: for what a forward pass needs beside its cache, connections and allocators' slack.
RESERVE_BYTES = 512 << 20

NEXT_STEP = (
    "Give a smaller budget (HELM_ENGINE_KV_BYTES, HELM_ENGINE_STAGING_BYTES, HELM_ENGINE_MAPPER_BYTES, "
    "HELM_ENGINE_MAPPER_HOST_BYTES), free memory here, or serve it on another node."
)


class MemoryShortError(ResourceError):
    """A model or its budgets that do not fit into what is free."""

    def __init__(self, message: str, needed: int, available: int) -> None:
        super().__init__("MEMORY_SHORT", message)
        self.needed_bytes = needed
        self.available_bytes = available
        self.missing_bytes = needed - available


@dataclass(frozen=True)
class Promise:
    """Bytes that `name` may come to hold, and those of them that it holds already."""

    name: str
    size: int
    touched: Callable[[], int]

    @property
    def untouched(self) -> int:
        """Bytes that the system still counts as free, and that are spoken for."""
        return max(0, self.size - self.touched())


class MemoryLedger:
    """One memory, the host's or a GPU's.

    Free is what is measured each time, so that whatever else runs there counts. A page that was promised
    and not written yet is free to the system and not to us: it is subtracted until it is touched.
    """

    def __init__(self, name: str, measure: Callable[[], int | None], reserve: int = RESERVE_BYTES) -> None:
        self.name = name
        self.reserve = reserve
        self._measure = measure
        self._promises: list[Promise] = []

    def promise(self, name: str, size: int, touched: Callable[[], int] = lambda: 0) -> None:
        """Keeps `size` bytes out of what others may take."""
        self._promises.append(Promise(name, size, touched))

    @property
    def untouched(self) -> int:
        """Bytes promised and not touched yet."""
        return sum(promise.untouched for promise in self._promises)

    def free(self) -> int | None:
        """Bytes free now as the system measures them, None where it does not say."""
        return self._measure()

    def available(self) -> int | None:
        """Bytes that somebody else may take, never below zero; None where nobody can tell."""
        free = self.free()
        return None if free is None else max(0, free - self.reserve - self.untouched)

    def require(self, needed: int, who: str, parts: str, before: int = 0) -> None:
        """Looks whether `needed` bytes are to be had beside the `before` of those who come first.

        `parts` says what they are for. Errors: MemoryShortError.
        """
        free, promised = self.free(), self.untouched + before
        if free is None:
            return
        available = max(0, free - self.reserve - promised)
        if needed <= available:
            return
        raise MemoryShortError(
            f"{who} does not fit: it needs {needed:,} bytes ({parts}), {available:,} are available and "
            f"{needed - available:,} are missing. Of the {self.name}'s memory {free:,} bytes are free, of "
            f"which {self.reserve:,} stay in reserve and {promised:,} are promised to others. {NEXT_STEP}",
            needed,
            available,
        )
