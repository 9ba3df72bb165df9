"""Places for running sequences, given out with hysteresis."""

from __future__ import annotations

# A full house takes nobody in until this share of its places is free again.
SPARE_DIVISOR = 8


class SlotGate:
    """Which of `most` places may be given out.

    Were every place filled again the moment it is free, each step would carry somebody's prompt beside the
    decoding rows, and completions would slow down for as long as a queue lasts.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.spare = max(1, most // SPARE_DIVISOR)
        self._full = False

    def admits(self, running: int, wanted: int) -> bool:
        """Whether `wanted` places may be taken beside `running` ones."""
        free = self.most - running
        if wanted > free or (self._full and free < self.spare):
            return False
        self._full = False
        return True

    def taken(self, running: int) -> None:
        """Says how many places are in use after some were given out."""
        self._full = running >= self.most
