"""Budgets in bytes: those that were given, and what takes the place of those that were not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..errors import UsageError

# Without a budget of its own a part takes at most this much,
MOST_KV = 512 << 20
MOST_STAGING = 256 << 20
MOST_MAPPERS = 1 << 30
# and of what is measured free, beyond the reserve and all weights, at most one part in so many.
KV_SHARE = 2
STAGING_SHARE = 16
MAPPER_SHARE = 8


@dataclass(frozen=True)
class GivenBudgets:
    """What the command line says; None and absent names mean: derive it. `kv` is for all models together."""

    kv: int | None = None
    kv_of: Mapping[str, int] = field(default_factory=dict)
    staging: int | None = None
    mappers: int | None = None
    mappers_host: int | None = None

    def kv_for(self, token_bytes: Mapping[str, int]) -> dict[str, int]:
        """The cache budgets that were given; one for all is shared so that every model holds as many tokens.

        Errors: UsageError for a model that is not served.
        """
        if unknown := sorted(set(self.kv_of) - set(token_bytes)):
            served = ", ".join(token_bytes)
            raise UsageError("USAGE", f"--kv-budget-bytes names {unknown[0]!r}; served are {served}")
        if self.kv is None:
            return dict(self.kv_of)
        return {name: self.kv * size // sum(token_bytes.values()) for name, size in token_bytes.items()}


@dataclass(frozen=True)
class SharedBudgets:
    """What the models share."""

    staging: int
    mappers: int
    mappers_host: int


def share_out(given: GivenBudgets, host_spare: int | None, device_spare: int | None) -> SharedBudgets:
    """Staging and mappers: as given, or a part of what weights and reserve leave of their memory."""
    return SharedBudgets(
        staging=_part(given.staging, host_spare, STAGING_SHARE, MOST_STAGING),
        mappers=_part(given.mappers, device_spare, MAPPER_SHARE, MOST_MAPPERS),
        mappers_host=_part(given.mappers_host, host_spare, MAPPER_SHARE, MOST_MAPPERS),
    )


def default_tokens(token_bytes: Mapping[str, int], open_for: Sequence[str], spare: int | None) -> int:
    """Tokens of cache for each model without a budget: `spare` is what is free beside all that was given."""
    everyone = sum(token_bytes.values())
    most = MOST_KV // everyone
    if spare is None:
        return most
    return min(most, max(0, spare) // KV_SHARE // sum(token_bytes[name] for name in open_for))


def parse_kv_budgets(texts: Sequence[str]) -> tuple[int | None, dict[str, int]]:
    """`BYTES` for all models, or `NAME=BYTES` for each. Errors: UsageError."""
    total: int | None = None
    by_name: dict[str, int] = {}
    for text in (part.strip() for whole in texts for part in whole.split(",")):
        name, named, number = text.rpartition("=")
        if not (number.isascii() and number.isdigit() and int(number) > 0) or (named and not name):
            raise UsageError(
                "USAGE", f"--kv-budget-bytes {text!r} is neither BYTES nor NAME=BYTES above zero"
            )
        if not named and total is None:
            total = int(number)
        elif named and name not in by_name:
            by_name[name] = int(number)
        else:
            raise UsageError("USAGE", f"--kv-budget-bytes is given twice for {name or 'all models'}")
    if total is not None and by_name:
        raise UsageError("USAGE", "--kv-budget-bytes is one number for all models, or NAME=BYTES for each")
    return total, by_name


def _part(given: int | None, spare: int | None, share: int, most: int) -> int:
    if given is not None:
        return given
    return most if spare is None else max(1, min(most, max(0, spare) // share))
