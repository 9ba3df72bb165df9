"""Names of corpora: bundled, a path, or a hub's data set. The zod twin is `corpus-name.ts` in contracts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from ..errors import CorpusError

BUNDLED = "bundled"
_PART = r"[A-Za-z0-9][A-Za-z0-9._-]{0,95}"
_REVISION = r"[A-Za-z0-9][A-Za-z0-9._/-]{0,127}"
_HUB = re.compile(rf"hub:(?P<repo>{_PART}/{_PART})(?:/(?P<config>{_PART}))?(?:@(?P<revision>{_REVISION}))?")
# Names of our own for data sets that are used often.
_ALIASES = {"fineweb-edu": "hub:HuggingFaceFW/fineweb-edu/sample-10BT"}


@dataclass(frozen=True)
class HubName:
    """A data set of the hub: `repo` owner/name, its configuration, and the revision asked for."""

    repo: str
    config: str | None = None
    revision: str | None = None

    def __str__(self) -> str:
        config = f"/{self.config}" if self.config else ""
        return f"hub:{self.repo}{config}" + (f"@{self.revision}" if self.revision else "")


def parse_name(given: str) -> HubName | Path:
    """The data set or the path that a user's `--corpus` means. Errors: CorpusError CORPUS_NAME."""
    alias, at, revision = given.partition("@")
    spelled = _ALIASES[alias] + at + revision if alias in _ALIASES else given
    if spelled.startswith("hub:"):
        found = _HUB.fullmatch(spelled)
        if not found or ".." in spelled:
            raise CorpusError("CORPUS_NAME", f"{given[:120]} is no hub:owner/name[/config][@revision]")
        return HubName(found["repo"], found["config"], found["revision"])
    if given == BUNDLED:
        return Path(__file__).resolve().parents[5] / "corpora" / BUNDLED
    return Path(given)
