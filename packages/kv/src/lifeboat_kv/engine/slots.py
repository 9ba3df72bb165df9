"""Places for running sequences, given out with hysteresis."""

from __future__ import annotations

# A full house takes nobody in until this share of its places is free again,
SPARE_DIVISOR = 8
# or until somebody has waited for a free place through so many steps.
PATIENCE_STEPS = 32


class SlotGate:
    """Which of `most` places may be given out.

    Were every place filled again the moment it is free, each step would carry somebody's prompt beside the
    decoding rows, and completions would slow down for as long as a queue lasts.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.spare = max(1, most // SPARE_DIVISOR)
        self._full = False
        self._withheld = 0

    def admits(self, running: int, wanted: int) -> bool:
        """Whether `wanted` places may be taken beside `running` ones."""
        free = self.most - running
        patient = self._withheld < PATIENCE_STEPS
        if wanted > free or (self._full and free < self.spare and patient):
            return False
        self._full = False
        return True

    def taken(self, running: int) -> None:
        """Says how many places are in use after some were given out."""
        self._full = running >= self.most
        self._withheld = 0

    def stepped(self, running: int, waiting: int) -> None:
        """Says that a step is over, with so many places in use and requests waiting."""
        withheld = self._full and waiting > 0 and running < self.most
        self._withheld = self._withheld + 1 if withheld else 0
