"""The ways to fit a mapper. One record each; the scorer compares them all by the same rules."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import UsageError

# Rows of the first positions carry most attention; their weight against all others where it is raised.
FIRST_POSITIONS = 4


@dataclass(frozen=True)
class Method:
    """`first_weight`: weight of rows at the first four positions. `renormalise`: end keys with the
    target's norm where it has k_norm. `constant_head`: keep the template's first tokens exactly."""

    name: str
    first_weight: float
    renormalise: bool
    constant_head: bool


METHODS = {
    "ridge": Method("ridge", first_weight=1.0, renormalise=False, constant_head=False),
    "renorm": Method("renorm", first_weight=32.0, renormalise=True, constant_head=True),
}
DEFAULT_METHOD = "renorm"


def method_named(name: str) -> Method:
    """Errors: UsageError UNKNOWN_METHOD."""
    if name not in METHODS:
        raise UsageError("UNKNOWN_METHOD", f"--method {name} is not one of {', '.join(METHODS)}")
    return METHODS[name]
