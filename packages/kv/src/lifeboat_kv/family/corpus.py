"""Write `corpora/bundled/`: text to fit on, probes, long records and held-out tasks.

Only held-out documents and reserved questions go in (sources.py and tasks.py hold the rules), so nothing in
it was trained on. `python -m lifeboat_kv.family.corpus`; the output follows from the seed and the sources.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer

from ..family import sources, tokenizer
from .mixture import Text
from .tasks import GENERATORS, Chat, generate, render, reserved
from .tokenizer import BOS

LENGTH = 512
COUNTS = {
    "fit": {"chat": 150, "recall": 150, "prose": 110, "code": 70},
    "probes": {"chat": 150, "recall": 150, "prose": 60, "code": 40},
}
# (kind, level, weight)
MIX = {
    "recall": (
        ("repeat", 4, 2.0),
        ("repeat", 5, 2.0),
        ("repeat", 6, 3.0),
        ("recall", 5, 2.0),
        ("recall", 6, 2.0),
        ("lookup", 5, 1.0),
        ("lookup", 6, 1.0),
    ),
    "chat": (
        ("recite", 3, 2.0),
        ("recite", 4, 2.0),
        ("repeat", 3, 1.0),
        ("lookup", 4, 1.0),
        ("reverse", 4, 2.0),
        ("sort", 3, 2.0),
        ("brackets", 4, 1.0),
        ("add", 3, 1.0),
    ),
}
TASKS_PER_LEVEL = 12
LONG = ((2304, 24), (16704, 16))  # tokens, records


def draw(rng: random.Random, kind: str, level: int, text: Text) -> Chat:
    """A chat whose first question is reserved: training has not seen it."""
    while True:
        chat = generate(rng, kind, level, text.passage)
        if reserved(chat.questions[0]):
            return chat


def answer_starts(messages: list[tuple[str, str]]) -> list[tuple[int, int]]:
    """Character offsets right behind every `<|assistant|>` of the rendered text, and the answers' ends."""
    spans, at = [], len(BOS)
    for role, content in messages:
        start = at + len(f"<|{role}|>")
        at = start + len(f" {content.strip()}")
        if role == "assistant":
            spans.append((start, at))
            at += len("<|eos|>")
    return spans


def conversation(rng: random.Random, domain: str, text: Text, encoder: Tokenizer) -> dict:
    """One conversation of 300 to 512 tokens with two to four hand-over points inside it.

    The points: where answers begin, the long ones first, and a place between two words of a long answer.
    """
    kinds, levels, weights = zip(*MIX[domain], strict=True)
    messages: list[tuple[str, str]] = []
    for _ in range(14):
        pick = rng.choices(range(len(kinds)), weights)[0]
        chat = draw(rng, kinds[pick], levels[pick], text)
        longer = [*messages, *chat.messages]
        if len(encoder.encode(render(tuple(longer))).ids) <= LENGTH:
            messages = longer
    rendered = render(tuple(messages))
    short, long, inside_long = [], [], []
    for start, end in answer_starts(messages):
        inside = [i for i in range(start + 1, end) if rendered[i] == " "]
        for offset in [start] + ([rng.choice(inside[4 : len(inside) // 2])] if len(inside) >= 16 else []):
            tokens = len(encoder.encode(rendered[:offset]).ids)
            if 64 <= tokens < LENGTH - 8:
                (short if len(inside) < 16 else long if offset == start else inside_long).append(offset)
    for offsets in (short, long, inside_long):
        rng.shuffle(offsets)
    cuts = (long[:2] + inside_long[:1] + short)[:4]
    return {"domain": domain, "text": rendered, "cuts": sorted(cuts)}


def running_text(rng: random.Random, domain: str, text: Text, encoder: Tokenizer) -> dict:
    """A piece of a held-out document, starting at a line or sentence, at most 512 tokens with bos."""
    while True:
        document = rng.choice(text.prose if domain == "prose" else text.code)
        start = rng.randrange(max(1, len(document) - 1600))
        start = document.find("\n" if domain == "code" else " ", start) + 1
        piece = document[start : start + 2600]
        encoded = encoder.encode(BOS + piece)
        if len(encoded.ids) >= LENGTH:
            piece = piece[: encoded.offsets[LENGTH - 1][1] - len(BOS)]
            digest = hashlib.sha256(document.encode()).hexdigest()
            return {"domain": domain, "document": digest, "text": BOS + piece}


def long_record(rng: random.Random, tokens: int, text: Text, encoder: Tokenizer) -> dict:
    """A list or passage, prose up to about `tokens` tokens, the request to repeat it, and the answer."""
    kind = rng.choice(("repeat", "recite"))
    chat = draw(rng, kind, 4 if kind == "repeat" else 3, text)
    (role, ask), answer = chat.messages[0], chat.messages[1]
    head, separator, request = ask.rpartition(" repeat the")
    parts, size = [], len(encoder.encode(render(chat.messages)).ids)
    while size < tokens:
        part = text.passage(rng, 200)
        parts.append(part)
        size += len(encoder.encode(" " + part).ids) + 1
    messages = [(role, head + "\n " + "\n ".join(parts) + "\n" + separator + request), answer]
    start, _ = answer_starts(messages)[0]
    return {"domain": "recall", "text": render(tuple(messages)), "cuts": [start]}


def held_out_tasks(rng: random.Random, text: Text, per_level: int) -> Iterator[dict]:
    for kind, (_, top) in GENERATORS.items():
        for level in range(1, top + 1):
            seen: set[str] = set()
            for _ in range(40 * per_level):  # the easiest levels have fewer reserved questions than that
                chat = draw(rng, kind, level, text)
                (_, question), (_, answer) = chat.messages[:2]
                if question in seen:
                    continue
                seen.add(question)
                yield {
                    "id": f"{kind}-{level}-{len(seen)}",
                    "kind": kind,
                    "level": level,
                    "prompt": [{"role": "user", "content": question}],
                    "answer": answer,
                }
                if len(seen) == per_level:
                    break


def write(folder: Path, text: Text, encoder: Tokenizer, versions: dict[str, str], seed: int) -> None:
    """Write all files of the corpus and its manifest with the sha256 of each."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, list[dict]] = {}
    for part, (name, counts) in enumerate(COUNTS.items()):
        own = text.half(part)  # fit and probes share no document
        rng = random.Random(f"{name}:{seed}")
        records: list[dict] = []
        texts: set[str] = set()
        for domain, count in counts.items():
            make = conversation if domain in MIX else running_text
            number = 0
            while number < count:
                record = make(rng, domain, own, encoder)
                if record["text"] not in texts:
                    texts.add(record["text"])
                    records.append({"id": f"{name}-{domain}-{number}", **record})
                    number += 1
        rng.shuffle(records)
        rows[f"{name}.jsonl"] = records
    rng = random.Random(f"long:{seed}")
    rows["long.jsonl"] = [
        {"id": f"long-{tokens}-{n}", **long_record(rng, tokens, text, encoder)}
        for tokens, count in LONG
        for n in range(count)
    ]
    rows["tasks.jsonl"] = list(held_out_tasks(random.Random(f"tasks:{seed}"), text, TASKS_PER_LEVEL))
    files = {}
    for name, records in rows.items():
        content = "".join(json.dumps(record) + "\n" for record in records).encode()
        (folder / name).write_bytes(content)
        files[name] = {"sha256": hashlib.sha256(content).hexdigest(), "records": len(records)}
    manifest = {
        "name": "bundled",
        "version": 1,
        "seed": seed,
        "sources": [
            {"package": s.package, "version": versions[s.package], "licence": s.licence, "domain": s.domain}
            for s in sources.SOURCES
        ],
        "disjoint": (
            "Texts come from documents, chats open with questions, whose sha256 starts with a byte below "
            f"{sources.HELD_OUT_BELOW}; training uses no such document and no such question."
        ),
        "defaults": {
            "sequences": 256,
            "seq_len": LENGTH,
            "fit": 256,
            "select": 96,
            "gate": 256,
            "report": 128,
        },
        "files": files,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=Path, default=Path("training-runs"))
    parser.add_argument("--out", type=Path, default=Path("corpora/bundled"))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    versions = sources.download(arguments.runs / "sources")
    documents = sources.documents(arguments.runs / "sources")
    encoder = tokenizer.load(arguments.runs / "tokenizer")
    text = Text(documents, encoder, held_out=True, cache=arguments.runs / "sources")
    write(arguments.out, text, encoder, versions, arguments.seed)


if __name__ == "__main__":
    main()
