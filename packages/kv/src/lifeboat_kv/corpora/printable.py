"""Names out of files that people and databases can take."""

from __future__ import annotations


def printable(name: str, longest: int | None = None) -> str:
    """`name`, cut to `longest`; zero bytes, other control characters and half surrogates become U+FFFD."""
    name = name[:longest]
    return name if name.isprintable() else "".join(c if c.isprintable() else "\ufffd" for c in name)
