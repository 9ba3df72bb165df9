"""Typed errors. Each has a stable code for programs, a sentence for people and an exit code."""

from __future__ import annotations

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_IMPOSSIBLE_PAIR = 3
EXIT_NO_ACCELERATOR = 4
EXIT_UNREADABLE = 5
EXIT_RESOURCES = 6
EXIT_INTERRUPTED = 130


class HelmError(Exception):
    """An expected failure: `code` is stable, `message` is one sentence with the next step."""

    exit_code = EXIT_FAILED

    def __init__(self, code: str, message: str, *, exit_code: int | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        if exit_code is not None:
            self.exit_code = exit_code


class UsageError(HelmError):
    """A wrong option or an impossible combination of options."""

    exit_code = EXIT_USAGE


class PairError(HelmError):
    """The two models cannot form a pair; `message` names every cause."""

    exit_code = EXIT_IMPOSSIBLE_PAIR


class HardwareError(HelmError):
    """No accelerator, or one that is refused."""

    exit_code = EXIT_NO_ACCELERATOR


class ModelError(HelmError):
    """A model folder that cannot be read or used."""

    exit_code = EXIT_UNREADABLE


class CorpusError(HelmError):
    """A corpus that cannot be read or is too small."""

    exit_code = EXIT_UNREADABLE


class RopeError(HelmError):
    """A rotary embedding that cannot be inverted."""

    exit_code = EXIT_IMPOSSIBLE_PAIR


class ArtifactError(HelmError):
    """A mapper file that must not be used; the code says why."""

    exit_code = EXIT_UNREADABLE


class ResourceError(HelmError):
    """Not enough memory or disk."""

    exit_code = EXIT_RESOURCES


class NumericsError(HelmError):
    """Non-finite statistics or weights: the machinery, not the pair, is at fault."""
