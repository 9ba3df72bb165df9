"""The ways to fit a mapper. One record each; the scorer compares them all by the same rules."""

from __future__ import annotations

from dataclasses import dataclass

from .errors import UsageError
from .mapper.form import K_NORM, RENORM

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
    three are the same. `constant_head`: keep the template's first tokens exactly. `k`: source layers a
    map where that is not the run's. `summary` is for people.
    """

    name: str
    summary: str
    rows: str = PLAIN
    head_local: bool = False
    ending: str | None = None
    constant_head: bool = True
    k: int | None = None


_ALL = (
    Method("ridge", "plain ridge on all heads, every row alike: the published baseline", constant_head=False),
    Method("attention", "rows weighted by the attention the target pays them", ATTENTION),
    Method("renorm", "keys brought back to the norm that the target's k_norm gives them", ending=RENORM),
    Method("renorm-first", "renorm with the first positions counted 32-fold", FIRST, ending=RENORM),
    Method("renorm-attention", "renorm with rows weighted by attention", ATTENTION, ending=RENORM),
    Method("prenorm", "keys fitted before the target's k_norm, which then ends them", ending=K_NORM),
    Method("prenorm-attention", "prenorm with rows weighted by attention", ATTENTION, ending=K_NORM),
    Method("head-local", "each head reads one source head of each layer, found in the data", head_local=True),
    Method("head-local-renorm", "head-local with renorm's ending", head_local=True, ending=RENORM),
    Method(
        "head-local-renorm-attention",
        "head-local-renorm with rows weighted by attention",
        ATTENTION,
        head_local=True,
        ending=RENORM,
    ),
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
