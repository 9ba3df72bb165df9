"""From a corpus's name to its four splits."""

from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import CorpusError, UsageError
from .deal import check_disjoint, deal
from .document import LONGEST_DOCUMENT, Document
from .files import Shard, digest_of, facts_of, joint_digest, shard, shards_of
from .hub import fetch, hub_from_environment
from .hub_http import HubHttp
from .long_texts import long_file_texts, spare_texts
from .manifest import MANIFEST, read_manifest
from .name import HubName, parse_name
from .overlap import Union, related
from .printable import printable
from .reading import documents_of
from .register import default_store, register
from .regular import inside
from .selection import ROOM, Selection
from .sequence import SHORTEST_PREFIX, SPLITS, Corpus, Note, Sequence, Sizes
from .tokenise import BATCH, sequences_of
from .traffic import traffic_notes

LOG = logging.getLogger(__name__)
# From this many text files on, each is a document; of fewer, their sections are.
_FILES_ARE_DOCUMENTS = 32
_CHARACTERS_A_TOKEN = 4
_MOST_DOMAINS = 32
# Intervals count sequences; with fewer documents than this, or more pieces of each, they promise too much.
_FEW = 8
_MANY_PIECES = 8
# Tokenising is what takes the time: this many times the wanted sequences at first, more where it was too few.
_SPARE = 1.25


@dataclass(frozen=True)
class _Source:
    """What a name came to: pools of files (one, or fit's and the probes'), with their digest and origin."""

    name: str
    key: str
    sha256: str
    sizes: Sizes
    pools: tuple[tuple[tuple[str, ...], list[Shard]], ...]
    origin: dict[str, Any]


def load_corpus(
    given: str | os.PathLike[str],
    tokenizer: Any,
    wanted: Mapping[str, Any] | None = None,
    *,
    column: str | None = None,
    store: Path | None = None,
    hub: HubHttp | None = None,
    room: int = ROOM,
) -> Corpus:
    """Reads the corpus that `given` names and deals it out.

    `given` is `bundled`, a .txt, .jsonl, .jsonl.gz or .parquet file, a folder of those or with a
    manifest.json (fit.jsonl, probes.jsonl), `fineweb-edu`, or hub:owner/name[/config][@revision].
    `wanted` overrides sizes (keys of `Sizes`), `column` names the text's column. Downloads and the
    register of digests lie in `store`. Files are read once, in bounded memory (`room` bytes of text a
    pool). Which split a text is in follows from the texts alone, not from names or order.

    Errors: CorpusError (exit code 5); ResourceError DISK_SHORT; UsageError BAD_SEQ_LEN.
    """
    store = store or default_store()
    source = _located(given, dict(wanted or {}), store, hub)
    if source.sizes.seq_len < SHORTEST_PREFIX:
        raise UsageError("BAD_SEQ_LEN", f"--seq-len {source.sizes.seq_len} is under {SHORTEST_PREFIX} tokens")
    selections = [_selected(shards, tokenizer, source.sizes, column, room) for _, shards in source.pools]
    splits, notes, long = _split(source, selections, tokenizer)
    long = long_file_texts(Path(source.key), tokenizer, splits) or long
    check_disjoint({**splits, "long": long})
    former, changed = register(store, source.key, source.name, source.sha256)
    if changed:
        notes.append(changed)
        source.origin["changed_from"] = former
    notes += traffic_notes(splits["gate"], tokenizer, source.sizes.seq_len)
    return Corpus(
        source.name, source.sha256, source.sizes, _tidied(splits), source.origin, tuple(notes), long
    )


def _located(
    given: str | os.PathLike[str], wanted: dict[str, Any], store: Path, hub: HubHttp | None
) -> _Source:
    named = parse_name(os.fspath(given))
    every = ("gate", "report", "select", "fit")
    if isinstance(named, HubName):
        fetched = fetch(named, hub or hub_from_environment(), store)
        shards = [shard(path, name) for name, path in fetched.files]
        origin = {
            "hub": {
                "repo": named.repo,
                "config": named.config,
                "revision": named.revision,
                "commit": fetched.commit,
            },
            "files": facts_of(shards),
        }
        sizes, sha256 = Sizes().replaced(wanted), digest_of(shards)
        return _Source(str(named), str(named), sha256, sizes, ((every, shards),), origin)
    path = named
    if not path.exists():
        raise CorpusError(
            "CORPUS_UNREADABLE",
            f"there is no corpus at {path}: give bundled, a file, a folder, fineweb-edu or hub:owner/name",
        )
    key = str(path.resolve())
    if path.is_dir() and os.path.lexists(path / MANIFEST):
        manifest = read_manifest(path)
        sizes = Sizes().replaced(manifest.defaults).replaced(wanted)
        shards = [shard(inside(path, name), name) for name in ("fit.jsonl", "probes.jsonl")]
        pools = ((("select", "fit"), shards[:1]), (("gate", "report"), shards[1:]))
        return _Source(manifest.name, key, joint_digest(shards), sizes, pools, {"files": facts_of(shards)})
    shards = shards_of(path)
    origin = {"files": facts_of(shards)}
    return _Source(
        printable(path.name), key, digest_of(shards), Sizes().replaced(wanted), ((every, shards),), origin
    )


def _selected(shards: list[Shard], tokenizer: Any, sizes: Sizes, column: str | None, room: int) -> Selection:
    """Reads every file once and keeps the documents whose digests come first."""
    selection = Selection(room)
    texts = sum(one.name.endswith(".txt") for one in shards)
    section = sizes.seq_len * _CHARACTERS_A_TOKEN
    for one in shards:
        whole = one.sha256 if texts >= _FILES_ARE_DOCUMENTS else None
        for document in documents_of(one.path, one.name, column, section, whole):
            selection.offer(document, document.digest(tokenizer.bos_token))
        one.check_unchanged()
    if not selection.seen:
        names = ", ".join(one.name for one in shards[:3])
        raise CorpusError("CORPUS_TOO_SHORT", f"{names} holds no text: give a longer corpus")
    return selection


def _split(
    source: _Source, selections: list[Selection], tokenizer: Any
) -> tuple[dict[str, list[Sequence]], list[Note], list[Sequence]]:
    """Tokenises as many documents as the splits need and deals them out; more where it was too few.

    The third result are long texts of which the splits use nothing.
    """
    sizes = source.sizes
    ordered = [selection.ordered() for selection in selections]
    rows: list[list[tuple[Document, list[Sequence]]]] = [[] for _ in ordered]
    goal = _SPARE
    while True:
        for (names, _), documents, done in zip(source.pools, ordered, rows, strict=True):
            wanted = goal * sum(getattr(sizes, name) for name in names) + BATCH
            have = sum(len(s) for _, s in done)
            while have < wanted and len(done) < len(documents):
                batch = [
                    document if document.id else replace(document, id=digest.hex()[:12])
                    for digest, document in documents[len(done) : len(done) + BATCH]
                ]
                found = sequences_of(batch, tokenizer, sizes.seq_len)
                done += zip(batch, found, strict=True)
                have += sum(len(s.tokens) >= SHORTEST_PREFIX for group in found for s in group)
        try:
            splits, notes, spare = _dealt(source, rows, selections)
            return splits, notes, spare_texts(spare, tokenizer.bos_token_id, sizes.seq_len)
        except CorpusError:
            if all(len(done) == len(documents) for done, documents in zip(rows, ordered, strict=True)):
                raise
            goal *= 2


def _dealt(
    source: _Source, rows: list[list[tuple[Document, list[Sequence]]]], selections: list[Selection]
) -> tuple[dict[str, list[Sequence]], list[Note], list[list[Sequence]]]:
    """Splits, notes, and the pieces of every document that nothing in the splits is related to."""
    flat = [row for pool in rows for row in pool]
    union, templates = related([d.plain for d, _ in flat], [d.whole for d, _ in flat])
    _join_prefixes(union, [sequences for _, sequences in flat])
    groups: list[dict[int, list[Sequence]]] = []
    number = 0
    for pool in rows:
        groups.append({})
        for _, sequences in pool:
            groups[-1].setdefault(union.root(number), []).extend(sequences)
            number += 1
    # What the probes share a passage with is no fit material, however the files call it.
    probes = set(groups[1]) if len(groups) > 1 else set()
    left_out = sum(len(found) for root, found in groups[0].items() if root in probes)
    groups[0] = {root: found for root, found in groups[0].items() if root not in probes}
    splits: dict[str, list[Sequence]] = {}
    for (names, _), pool in zip(source.pools, groups, strict=True):
        splits |= deal(list(pool.values()), names, source.sizes)
    used = {id(s) for dealt in splits.values() for s in dealt}
    roots = {union.root(n) for n, (_, found) in enumerate(flat) if any(id(s) in used for s in found)}
    spare = [found for n, (_, found) in enumerate(flat) if found and union.root(n) not in roots]
    owner = {id(s): union.root(n) for n, (_, found) in enumerate(flat) for s in found}
    notes = _notes(selections, flat, templates, left_out)
    for name in ("gate", "report"):
        documents = len({owner[id(s)] for s in splits[name]})
        if documents < min(len(splits[name]), max(_FEW, len(splits[name]) // _MANY_PIECES)):
            notes.append(
                Note(
                    "FEW_DOCUMENTS",
                    f"the {len(splits[name])} sequences of the {name} split come from {documents} unrelated "
                    "documents: its intervals are narrower than the truth; give more documents",
                )
            )
    return {name: splits[name] for name in SPLITS}, notes, spare


def _join_prefixes(union: Union, rows: list[list[Sequence]]) -> None:
    """Joins documents where one's tokens begin another's: after sorting they stand side by side."""
    found = sorted((s.tokens, i) for i, sequences in enumerate(rows) for s in sequences)
    held: list[tuple[tuple[int, ...], int]] = []
    for tokens, number in found:
        while held and tokens[: len(held[-1][0])] != held[-1][0]:
            held.pop()
        if held:
            union.join(held[-1][1], number)
        if len(tokens) >= SHORTEST_PREFIX:
            held.append((tokens, number))


def _notes(
    selections: list[Selection], rows: list[tuple[Document, list[Sequence]]], templates: int, left_out: int
) -> list[Note]:
    notes = []
    repeated = sum(s.repeated for s in selections)
    if repeated:
        notes.append(Note("REPEATED", f"{repeated} documents of the corpus repeat others and count once"))
    shortened = sum(s.shortened for s in selections)
    if shortened:
        notes.append(
            Note(
                "SHORTENED",
                f"{shortened} documents are used up to character {LONGEST_DOCUMENT:,} only",
            )
        )
    unfit = sum(not sequences for _, sequences in rows)
    if unfit:
        notes.append(Note("UNFIT_CHATS", f"{unfit} chats do not fit the model's template and are left out"))
    if left_out:
        notes.append(Note("LEFT_OUT", f"{left_out} sequences share passages with probes and are not fitted"))
    if templates:
        notes.append(Note("TEMPLATES", f"{templates} passages are in many documents and count as templates"))
    return notes


def _tidied(splits: dict[str, list[Sequence]]) -> dict[str, list[Sequence]]:
    """Ids that are one sequence's alone, and no more domains than a table can show."""
    ids = Counter(s.id for rows in splits.values() for s in rows)
    domains = Counter(s.domain for rows in splits.values() for s in rows)
    many = len(domains) > _MOST_DOMAINS
    return {
        name: [
            replace(
                s,
                id=s.id if ids[s.id] == 1 else f"{s.id}~{s.digest[:12]}",
                domain="text" if many else s.domain,
            )
            for s in rows
        ]
        for name, rows in splits.items()
    }
