"""One of the two models of a pair, loaded, with its rotation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..rotation.rope import Rope


@dataclass(frozen=True)
class Side:
    """One model with its rotation."""

    model: Any
    rope: Rope
