"""Requests waiting for a place: in order of arrival, with bounded overtaking."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from .sequence import Request

# How often a request that does not fit yet may be passed by a later one that does.
MOST_PASSES = 16
# How far behind the first one is looked for somebody who fits.
LOOK_AHEAD = 64


class WaitingLine:
    """First come, first served, but for what does not fit yet: up to MOST_PASSES others pass it.

    After that nobody behind it starts before it does, so that what runs ends and its memory comes free.
    """

    def __init__(self) -> None:
        self._line: deque[Request] = deque()

    def __len__(self) -> int:
        return len(self._line)

    def __iter__(self) -> Iterator[Request]:
        return iter(self._line)

    def join(self, request: Request) -> None:
        """Adds a request at the end."""
        self._line.append(request)

    def rejoin(self, request: Request) -> None:
        """Puts back at the front a request that had its turn and must start once more."""
        self._line.appendleft(request)

    def candidates(self) -> list[Request]:
        """Who may start now, the first one first."""
        found: list[Request] = []
        for request in self._line:
            found.append(request)
            if request.passed >= MOST_PASSES or len(found) == LOOK_AHEAD:
                break
        return found

    def leave(self, request: Request) -> None:
        """Takes out a request that starts; those before it were passed once more."""
        for earlier in self._line:
            if earlier is request:
                break
            earlier.passed += 1
        self._line.remove(request)

    def forget(self, request: Request) -> None:
        """Takes out a request that will never start; nobody was passed."""
        self._line.remove(request)

    def drain(self) -> Iterator[Request]:
        """Takes out everybody, one after another."""
        while self._line:
            yield self._line.popleft()
