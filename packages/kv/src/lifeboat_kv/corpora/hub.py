"""A data set of the hub as local files: its commit, the shards that are needed, kept by digest."""

from __future__ import annotations

import fnmatch
import hashlib
import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from ..errors import CorpusError
from ..models.digest_cache import cached_digest
from .hub_http import DEFAULT_ENDPOINT, HubFile, HubHttp
from .name import HubName
from .reading import SUFFIXES

LOG = logging.getLogger(__name__)
# Shards are taken in the order of their names until they hold this much; the defaults use a tenth.
ENOUGH = 64 << 20
LARGEST_SHARD = 4 << 30
_MOST_SHARDS = 64
_MOST_PAGES = 40
_OFF = "off"


@dataclass(frozen=True)
class Fetched:
    """Local files of a data set with the names they have there, and the commit they are of."""

    commit: str
    files: list[tuple[str, Path]]


def hub_from_environment() -> HubHttp:
    """The hub that this host's operator allows: HELM_HUB_ENDPOINT, else HF_ENDPOINT, else the public one.

    HELM_HUB_STORAGE lists further domains that it may send downloads to. Errors: CorpusError HUB_OFF.
    """
    named = os.environ.get("HELM_HUB_ENDPOINT")
    endpoint = named or os.environ.get("HF_ENDPOINT") or DEFAULT_ENDPOINT
    # Worker and command line set HF_HUB_OFFLINE for every job and name the hub to those that may ask it.
    offline = os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")
    if endpoint == _OFF or (offline and not named):
        raise CorpusError(
            "HUB_OFF",
            "this host is set up without a hub (HELM_HUB_ENDPOINT, HF_HUB_OFFLINE): give a file or folder",
        )
    domains = os.environ.get("HELM_HUB_STORAGE", "").split(",")
    storage = tuple(d.strip() for d in domains if d.strip(" .")) or None
    return HubHttp(endpoint, os.environ.get("HF_TOKEN") or None, storage)


def fetch(name: HubName, http: HubHttp, store: Path, enough: int = ENOUGH) -> Fetched:
    """Downloads what is missing of the shards that `name` needs into `store`, verified.

    No code of the data set is run: only files with the suffixes we read are looked at. Errors:
    CorpusError HUB_*, DOWNLOAD_BROKEN, DATASET_UNUSABLE; ResourceError DISK_SHORT.
    """
    what = f"data set {name.repo}" + (f" at {name.revision}" if name.revision else "")
    root = f"api/datasets/{name.repo}"
    facts, _ = http.get_json(f"{root}/revision/{quote(name.revision or 'main', safe='')}", what)
    commit = facts.get("sha") if isinstance(facts, dict) else None
    if not isinstance(commit, str) or not re.fullmatch(r"[0-9a-f]{40}", commit):
        raise CorpusError("HUB_ANSWER", f"{http.endpoint} names no commit of {what}: is it a hub?")
    patterns = _patterns(facts.get("cardData"), name)
    shards = _wanted(_tree(http, f"{root}/tree/{commit}", patterns, what), patterns, name, enough)
    found = []
    for shard in shards:
        blob = store / "blobs" / shard.digest
        if not _is(blob, shard):
            LOG.info("downloading %s of %s, %d MiB", shard.path, name.repo, shard.size >> 20)
            http.download(f"datasets/{name.repo}/resolve/{commit}/{quote(shard.path)}", shard, blob)
        found.append((shard.path, blob))
    return Fetched(commit, found)


def _is(blob: Path, file: HubFile) -> bool:
    """Whether what is kept is still the file: kept files are read again, not trusted."""
    if not blob.is_file() or blob.stat().st_size != file.size:
        return False
    if file.git_blob:
        data = blob.read_bytes()
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest() == file.digest
    return cached_digest(blob) == file.digest


def _patterns(card: Any, name: HubName) -> list[str]:
    """Path patterns of the configuration's training split, as the data set's card declares them."""
    configs = card.get("configs") if isinstance(card, dict) else None
    known = {
        str(c.get("config_name")): c.get("data_files")
        for c in (configs if isinstance(configs, list) else [])
        if isinstance(c, dict)
    }
    chosen = name.config or "default"
    if chosen not in known:
        # A folder of that name is a configuration too; the tree will show whether it is there.
        return [f"{name.config}/*"] if name.config else ["*"]
    files = known[chosen]
    if isinstance(files, str):
        return [files]
    rows = files if isinstance(files, list) else []
    splits = [r for r in rows if isinstance(r, dict)]
    training = [r for r in splits if r.get("split") == "train"] or splits[:1]
    paths = [r.get("path") for r in training] if splits else rows
    flat = [p for path in paths for p in (path if isinstance(path, list) else [path])]
    return [p for p in flat if isinstance(p, str)] or ["*"]


def _tree(http: HubHttp, address: str, patterns: list[str], what: str) -> list[HubFile]:
    """Every file under the folders that the patterns name, from the hub's paged listing."""
    found: dict[str, HubFile] = {}
    for folder in sorted({_folder(p) for p in patterns}):
        page: str | None = f"{address}/{quote(folder)}".rstrip("/") + "?recursive=true"
        for _ in range(_MOST_PAGES):
            rows, page = http.get_json(page, what)
            for row in rows if isinstance(rows, list) else []:
                file = _file(row)
                if file:
                    found[file.path] = file
            if page is None:
                break
    return list(found.values())


def _folder(pattern: str) -> str:
    """The longest folder of a pattern that holds no wildcard."""
    parts = pattern.split("/")[:-1]
    plain = [i for i, part in enumerate(parts) if re.search(r"[*?\[{]", part)]
    return "/".join(parts[: plain[0]] if plain else parts)


def _file(row: Any) -> HubFile | None:
    if not isinstance(row, dict) or row.get("type") != "file" or not isinstance(row.get("path"), str):
        return None
    large = row.get("lfs")
    digest = large.get("oid") if isinstance(large, dict) else row.get("oid")
    size = large.get("size", row.get("size")) if isinstance(large, dict) else row.get("size")
    path = row["path"]
    if not isinstance(size, int) or not re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", str(digest)):
        return None
    return (
        HubFile(path, size, str(digest)) if ".." not in path.split("/") and path.endswith(SUFFIXES) else None
    )


def _wanted(files: list[HubFile], patterns: list[str], name: HubName, enough: int) -> list[HubFile]:
    matching = [f for f in files if any(fnmatch.fnmatchcase(f.path, p.replace("**/", "*")) for p in patterns)]
    if not matching:
        raise CorpusError(
            "DATASET_UNUSABLE",
            f"{name} has no {', '.join(SUFFIXES)} file there: name another configuration, or try "
            f"hub:{name.repo}@refs/convert/parquet",
        )
    chosen: list[HubFile] = []
    for file in sorted(matching, key=lambda f: f.path)[:_MOST_SHARDS]:
        if sum(f.size for f in chosen) >= enough:
            break
        if file.size > LARGEST_SHARD:
            raise CorpusError(
                "DATASET_UNUSABLE",
                f"{file.path} of {name} is larger than {LARGEST_SHARD >> 30} GiB: name another configuration",
            )
        chosen.append(file)
    return chosen
