"""The ways to fit a mapper. One record each; the scorer compares them all by the same rules."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import UsageError
from .mapper import K_NORM, RENORM

# Rows of the first positions carry most attention; how many, and their weight where it is raised.
FIRST_POSITIONS = 4
FIRST_WEIGHT = 32.0

# How the rows of a fit are weighted: all alike, the first positions more, by the target's own attention.
PLAIN = "plain"
FIRST = "first"
ATTENTION = "attention"
ROW_FACTS: dict[str, dict[str, float]] = {
    PLAIN: {},
    FIRST: {"positions": FIRST_POSITIONS, "weight": FIRST_WEIGHT},
    ATTENTION: {},
}


@dataclass(frozen=True)
class Method:
    """`rows`: PLAIN, FIRST or ATTENTION. `head_local`: each target head reads one source head a layer.

    `ending`: RENORM fits onto post-norm keys and re-normalises, K_NORM fits onto pre-norm keys and ends
    with the target's k_norm, None leaves keys as the map gives them; without k_norm in the target all
    three are the same. `constant_head`: keep the template's first tokens exactly. `summary` is for people.
    """

    name: str
    summary: str
    rows: str = PLAIN
    head_local: bool = False
    ending: str | None = None
    constant_head: bool = True


_ALL = (
    Method("ridge", "plain ridge on all heads, every row alike: the published baseline", constant_head=False),
    Method("attention", "rows weighted by the target's own attention, exact first tokens", ATTENTION),
    Method("head-local", "each head reads one source head a layer, exact first tokens", head_local=True),
    Method(
        "renorm",
        "first positions weighted, keys brought back to the target's norm, exact first tokens",
        FIRST,
        ending=RENORM,
    ),
    Method(
        "prenorm",
        "first positions weighted, fitted onto keys before the target's norm, exact first tokens",
        FIRST,
        ending=K_NORM,
    ),
    Method("renorm-attention", "renorm with rows weighted by attention", ATTENTION, ending=RENORM),
    Method("prenorm-attention", "prenorm with rows weighted by attention", ATTENTION, ending=K_NORM),
    Method("head-local-renorm", "head-local with renorm's rows and ending", FIRST, True, RENORM),
)
METHODS = {method.name: method for method in _ALL}
DEFAULT_METHOD = "renorm"


def method_named(name: str) -> Method:
    """`default` is the one that measured best. Errors: UsageError UNKNOWN_METHOD."""
    if name == "default":
        return METHODS[DEFAULT_METHOD]
    if name not in METHODS:
        raise UsageError("UNKNOWN_METHOD", f"--method {name} is not one of {', '.join(METHODS)}")
    return METHODS[name]
