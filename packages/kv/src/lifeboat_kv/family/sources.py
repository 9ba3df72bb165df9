"""Freely licensed text from Debian packages: download, unpack, split into documents.

A document belongs to the held-out part when the first byte of the sha256 of its text is below 16
(one in sixteen). Training never reads a held-out document, the bundled corpus reads nothing else.
"""

from __future__ import annotations

import hashlib
import html
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

HELD_OUT_BELOW = 16


@dataclass(frozen=True)
class Source:
    package: str
    licence: str
    domain: str  # "prose" or "code"
    pattern: str


SOURCES = (
    Source("python3.11-doc", "PSF-2.0", "prose", "usr/share/doc/python3.11/html/_sources/**/*.rst.txt"),
    Source("postgresql-doc-15", "PostgreSQL", "prose", "usr/share/doc/postgresql-doc-15/html/**/*.html"),
    Source("libpython3.11-stdlib", "PSF-2.0", "code", "usr/lib/python3.11/**/*.py"),
    Source("bible-kjv-text", "public domain (King James Version)", "prose", ""),
)
# The text package stores its verses compressed; this one holds the program that prints them.
READER_PACKAGE = "bible-kjv"


@dataclass(frozen=True)
class Document:
    text: str
    domain: str
    package: str

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    @property
    def held_out(self) -> bool:
        return int(self.digest[:2], 16) < HELD_OUT_BELOW


def _plain_html(text: str) -> str:
    body = re.sub(r"(?s)<(script|style|head).*?</\1>", "", text)
    body = re.sub(r"(?s)<div class=\"nav(header|footer)\".*?</div>", "", body)
    body = re.sub(r"</(p|div|h\d|tr|li|pre|dt|dd)>|<br ?/?>", "\n", body)
    body = html.unescape(re.sub(r"(?s)<[^>]+>", "", body)).replace("\u00a0", " ")
    return re.sub(r"\n\s*\n\s*", "\n\n", body).strip()


def _ascii(text: str) -> str:
    for fancy, plain in (
        ("\u201c", '"'),
        ("\u201d", '"'),
        ("\u2019", "'"),
        ("\u2018", "'"),
        ("\u2014", "--"),
    ):
        text = text.replace(fancy, plain)
    return text.encode("ascii", "ignore").decode()


def download(folder: Path) -> dict[str, str]:
    """Fetch and unpack every source package under `folder`; returns {package: version}. Needs apt-get."""
    folder.mkdir(parents=True, exist_ok=True)
    versions = {}
    for package in [source.package for source in SOURCES] + [READER_PACKAGE]:
        if not list(folder.glob(f"{package}_*.deb")):
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
        archive = sorted(folder.glob(f"{package}_*.deb"))[-1]
        versions[package] = archive.name.split("_")[1].replace("%3a", ":")
        target = folder / "unpacked" / package
        if not target.exists():
            target.mkdir(parents=True)
            subprocess.run(["dpkg", "-x", str(archive), str(target)], check=True)
    return versions


def _verses(folder: Path) -> list[str]:
    """The King James Version by chapter groups, printed by the package's own reader."""
    program = folder / "unpacked" / READER_PACKAGE / "usr/bin/bible"
    data = folder / "unpacked" / "bible-kjv-text" / "usr/lib"
    printed = subprocess.run(
        [str(program), "-f", "-p", str(data), "gen1:1-rev22:21"],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        cwd=data,
    ).stdout
    chapters: dict[str, list[str]] = {}
    for line in printed.splitlines():
        match = re.match(r"(\w+?)(\d+):(\d+)\s+(.*)", line.strip())
        if match:
            chapters.setdefault(match[1] + match[2], []).append(match[4])
    return [" ".join(verses) for verses in chapters.values()]


def documents(folder: Path) -> list[Document]:
    """All documents of all sources, in a stable order, cached as one JSON file beside the downloads."""
    cache = folder / "documents.json"
    if cache.exists():
        return [Document(*row) for row in json.loads(cache.read_text())]
    download(folder)
    found: dict[str, Document] = {}
    for source in SOURCES:
        if source.pattern:
            files = [
                p for p in sorted((folder / "unpacked" / source.package).glob(source.pattern)) if p.is_file()
            ]
            texts = [path.read_text(encoding="utf-8", errors="ignore") for path in files]
            if source.pattern.endswith(".html"):
                texts = [_plain_html(text) for text in texts]
        else:
            texts = _verses(folder)
        for text in texts:
            text = _ascii(text).strip()
            if len(text) >= 1500 and "\x00" not in text:
                document = Document(text, source.domain, source.package)
                found.setdefault(document.digest, document)
    result = list(found.values())
    cache.write_text(json.dumps([[d.text, d.domain, d.package] for d in result]))
    return result
