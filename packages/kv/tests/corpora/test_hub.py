"""Data sets of a hub, against a double of its API on loopback. The public hub itself is not asked here."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import socket
from collections import namedtuple
from pathlib import Path

import pytest
from hub_double import COMMIT, HubDouble, serving
from words import SIZES, texts, tokenizer

from lifeboat_kv.corpora import load_corpus
from lifeboat_kv.corpora.hub import fetch, hub_from_environment
from lifeboat_kv.corpora.hub_http import DEFAULT_ENDPOINT, HubHttp
from lifeboat_kv.corpora.name import HubName, parse_name
from lifeboat_kv.corpora.sequence import SPLITS
from lifeboat_kv.errors import CorpusError, ResourceError

NAME = HubName("some/texts")


def lines(seed: int, count: int = 20) -> bytes:
    return "".join(json.dumps({"text": t}) + "\n" for t in texts(count, seed=seed)).encode()


def double(**changed) -> HubDouble:
    files = {f"data/part-{i}.jsonl": lines(i) for i in range(3)}
    files |= {"README.md": b"# texts", "load.py": b"raise SystemExit('run')", "data/state.pkl": b"\x80\x04."}
    return HubDouble(**{"files": files, **changed})


def http(hub: HubDouble, **named) -> HubHttp:
    return HubHttp(hub.url, pause=0.0, **named)


def refused(hub: HubDouble, store: Path, name: HubName = NAME, **named) -> CorpusError:
    with serving(hub), pytest.raises(CorpusError) as raised:
        fetch(name, http(hub, **named), store)
    assert raised.value.exit_code == 5 and "\n" not in raised.value.message
    # Nothing half-written, whatever happened.
    assert not [p for p in store.rglob("*") if p.name.endswith(".part")]
    return raised.value


def test_a_data_set_becomes_splits_and_is_recorded(store, monkeypatch) -> None:
    with serving(double()) as hub:
        monkeypatch.setenv("HELM_HUB_ENDPOINT", hub.url)
        corpus = load_corpus("hub:some/texts@v2", tokenizer(), SIZES)
        asked = len(hub.seen)
        again = load_corpus("hub:some/texts@v2", tokenizer(), SIZES)
        # The second time the commit is asked for and the files are there.
        assert [p for p, _ in hub.seen[asked:] if "/resolve/" in p] == []
    assert [len(corpus.splits[n]) for n in SPLITS] == [12, 4, 8, 4]
    assert again.splits == corpus.splits and again.sha256 == corpus.sha256
    facts = corpus.facts()
    assert facts["name"] == "hub:some/texts@v2"
    assert facts["hub"] == {"repo": "some/texts", "config": None, "revision": "v2", "commit": COMMIT}
    assert {f["name"] for f in facts["files"]} == {f"data/part-{i}.jsonl" for i in range(3)}
    assert all(f["sha256"] == hashlib.sha256(hub.files[f["name"]]).hexdigest() for f in facts["files"])
    # No file that is no text was so much as downloaded.
    assert not any(p.endswith((".py", ".pkl", ".md")) for p, _ in hub.seen)


@pytest.mark.parametrize("large", [True, False])
def test_only_the_shards_that_are_needed_come(store, large: bool) -> None:
    with serving(double(large=large)) as hub:
        found = fetch(NAME, http(hub), store, enough=len(hub.files["data/part-0.jsonl"]) + 1)
    assert [name for name, _ in found.files] == ["data/part-0.jsonl", "data/part-1.jsonl"]
    assert all(path.read_bytes() == hub.files[name] for name, path in found.files)


def test_a_configuration_names_its_files(store) -> None:
    configs = [
        {"config_name": "default", "data_files": [{"split": "train", "path": "data/*/*"}]},
        {
            "config_name": "sample",
            "data_files": [
                {"split": "test", "path": "sample/test/*"},
                {"split": "train", "path": ["sample/10/*"]},
            ],
        },
    ]
    files = {
        f"{folder}/{i}.jsonl": lines(i) for folder in ("sample/10", "sample/test", "extra") for i in (1, 2)
    }
    with serving(HubDouble(files=files, configs=configs)) as hub:
        names = [n for n, _ in fetch(HubName("some/texts", "sample"), http(hub), store).files]
        assert names == ["sample/10/1.jsonl", "sample/10/2.jsonl"]
        # Only that folder was listed.
        assert [p for p, _ in hub.seen if "/tree/" in p] == [
            f"/api/datasets/some/texts/tree/{COMMIT}/sample/10?recursive=true"
        ]
        names = [n for n, _ in fetch(HubName("some/texts", "extra"), http(hub), store).files]
        assert names == ["extra/1.jsonl", "extra/2.jsonl"]
    assert refused(hub, store, HubName("some/texts", "none")).code == "DATASET_UNUSABLE"


def test_a_long_listing_is_read_page_by_page(store) -> None:
    with serving(double(page=1)) as hub:
        assert len(fetch(NAME, http(hub), store).files) == 3


def test_a_listing_page_on_another_host_is_refused(store) -> None:
    hub = double(page=1)

    def listing(path: str, folder: str, start: int):
        return 200, {"Link": '<http://127.0.0.2:1/x>; rel="next"'}, b"[]"

    hub.listing = listing  # type: ignore[method-assign]
    assert refused(hub, store).code == "HUB_REDIRECT"


@pytest.mark.parametrize(
    "target",
    ["http://127.0.0.2:9/file", "https://elsewhere.example/file", "file:///etc/passwd", "//evil.example/x"],
)
def test_a_redirect_to_another_host_is_refused(store, target: str) -> None:
    error = refused(double(redirect=target), store)
    assert error.code == "HUB_REDIRECT" and "is allowed" in error.message


def test_a_redirect_within_the_host_is_followed_and_rings_end(store) -> None:
    hub = double()
    hub.redirect = "/cdn/data/part-0.jsonl"
    with serving(hub):
        found = fetch(NAME, http(hub), store, enough=1)
    assert found.files[0][1].read_bytes() == hub.files["data/part-0.jsonl"]
    shutil.rmtree(store)
    ring = double()
    ring.redirect = f"/datasets/some/texts/resolve/{COMMIT}/data/part-0.jsonl"
    assert refused(ring, store).code == "HUB_REDIRECT"


def test_storage_is_of_the_named_domains_alone(store) -> None:
    """The public hub's own storage domains count for it, a private hub's only where they are configured."""
    public = HubHttp(DEFAULT_ENDPOINT)
    public._check_host("https://cas-bridge.xethub.hf.co/x", "f")
    public._check_host("https://cdn-lfs.huggingface.co/x", "f")
    own = HubHttp("https://hub.example", storage=(".store.example",))
    own._check_host("https://eu.store.example/x", "f")
    wrong = [
        (public, "http://cdn-lfs.hf.co/x"),
        (public, "https://hf.co.evil.example/x"),
        (public, "https://evilhf.co/x"),
        (own, "https://cdn-lfs.hf.co/x"),
        (own, "https://store.example.evil/x"),
        (own, "http://hub.example/x"),
        (own, "https://hub.example:444/x"),
        (own, "https://hub.example@evil.example/x"),
    ]
    for one, address in wrong:
        with pytest.raises(CorpusError):
            one._check_host(address, "f")


@pytest.mark.parametrize("given", ["cdn.example.org", ".cdn.example.org", " x.org, CDN.example.org."])
def test_a_named_storage_host_counts_itself(monkeypatch, given: str) -> None:
    monkeypatch.setenv("HELM_HUB_ENDPOINT", "https://hub.example")
    monkeypatch.setenv("HELM_HUB_STORAGE", given)
    own = hub_from_environment()
    own._check_host("https://cdn.example.org/x", "f")
    own._check_host("https://eu.cdn.example.org/x", "f")
    for wrong in ("https://evilcdn.example.org/x", "https://example.org/x", "http://cdn.example.org/x"):
        with pytest.raises(CorpusError):
            own._check_host(wrong, "f")


def test_the_token_goes_to_the_hub_and_nowhere_else(store) -> None:
    other = HubDouble(files={"data/part-0.jsonl": lines(0)})
    with serving(double(token="secret")) as hub, serving(other):
        hub.redirect = f"{other.url}/cdn/data/part-0.jsonl"
        one = HubHttp(hub.url, "secret", pause=0.0)
        one._check_host = lambda *_: None  # type: ignore[method-assign]
        fetch(NAME, one, store, enough=1)
    assert {given for _, given in hub.seen} == {"Bearer secret"}
    assert [given for _, given in other.seen] == [None]


def test_downloads_that_are_not_the_file(store) -> None:
    name = "data/part-0.jsonl"
    whole = double().files[name]
    cases = [
        (double(cut=100), "broke off|100 of|bytes came"),
        (double(declared={name: len(whole) + 7}), f"{len(whole)} of {len(whole) + 7}"),
        (double(declared={name: len(whole) - 7}), f"more than the {len(whole) - 7}"),
        (double(swap={name: whole[:-2] + b"x\n"}), "digest"),
        (double(swap={name: whole[:-2] + b"x\n"}, large=False), "digest"),
    ]
    for hub, said in cases:
        error = refused(hub, store)
        assert error.code == "DOWNLOAD_BROKEN" and any(part in error.message for part in said.split("|"))
        assert "start the run again" in error.message


def test_a_kept_file_that_rotted_is_fetched_again(store) -> None:
    with serving(double()) as hub:
        (_, blob), *_ = fetch(NAME, http(hub), store).files
        blob.write_bytes(b"x" * blob.stat().st_size)
        fetch(NAME, http(hub), store)
        assert blob.read_bytes() == hub.files["data/part-0.jsonl"]


@pytest.mark.parametrize(
    ("status", "headers", "code", "said"),
    [
        (401, {}, "HUB_REFUSED", "there is no HF_TOKEN"),
        (403, {}, "HUB_REFUSED", "accept its terms"),
        (404, {}, "HUB_NOT_FOUND", "check owner, name and revision"),
        (429, {"Retry-After": "120"}, "HUB_BUSY", "start again in 120 seconds"),
        (429, {}, "HUB_BUSY", "later"),
        (500, {}, "HUB_ANSWER", "500"),
        (418, {}, "HUB_ANSWER", "418"),
    ],
)
def test_refusals_say_what_to_do(store, status: int, headers: dict, code: str, said: str) -> None:
    error = refused(double(status=status, headers=headers), store)
    assert error.code == code and said in error.message


def test_a_busy_moment_is_waited_for(store) -> None:
    with serving(double(status=503, fail_first=2)) as hub:
        assert len(fetch(NAME, http(hub), store).files) == 3


def test_an_unknown_revision(store) -> None:
    assert refused(double(), store, HubName("some/texts", revision="v9")).code == "HUB_NOT_FOUND"


def test_something_that_is_no_hub(store) -> None:
    hub = double()
    hub.answer = lambda *_: (200, {}, b"<html>hello</html>")  # type: ignore[method-assign]
    assert refused(hub, store).code == "HUB_ANSWER"
    hub.answer = lambda *_: (200, {}, b'{"sha": "../../etc"}')  # type: ignore[method-assign]
    assert refused(hub, store).code == "HUB_ANSWER"
    hub.answer = lambda *_: (200, {}, b" " * (33 << 20))  # type: ignore[method-assign]
    assert "32 MiB" in refused(hub, store).message


def test_paths_of_a_listing_cannot_climb_or_be_huge(store) -> None:
    climbing = HubDouble(files={"../../x.jsonl": lines(1)})
    assert refused(climbing, store).code == "DATASET_UNUSABLE"
    huge = double(declared={"data/part-0.jsonl": 5 << 30})
    assert "larger than 4 GiB" in refused(huge, store).message
    assert refused(HubDouble(files={"a.csv": b"x"}), store).code == "DATASET_UNUSABLE"


def test_a_full_disk_is_said_before_a_byte_is_written(store, monkeypatch) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(1, 1, 1 << 20))
    with serving(double()) as hub, pytest.raises(ResourceError) as raised:
        fetch(NAME, http(hub), store)
    assert raised.value.code == "DISK_SHORT" and raised.value.exit_code == 6


def test_a_disk_that_fills_up_meanwhile_leaves_nothing(store, monkeypatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with serving(double()) as hub, pytest.raises(ResourceError) as raised:
        fetch(NAME, http(hub), store)
    assert raised.value.code == "DISK_FULL" and list((store / "blobs").iterdir()) == []


def test_offline_is_one_line_with_the_next_step(store) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(CorpusError) as raised:
        fetch(NAME, HubHttp(address, pause=0.0), store)
    error = raised.value
    assert error.code == "HUB_UNREACHABLE" and error.exit_code == 5
    assert "give their folder as --corpus" in error.message and "\n" not in error.message


def test_the_operator_says_which_hub(monkeypatch) -> None:
    assert hub_from_environment().endpoint == DEFAULT_ENDPOINT
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example/")
    assert hub_from_environment().endpoint == "https://mirror.example"
    monkeypatch.setenv("HELM_HUB_ENDPOINT", "https://own.example")
    assert hub_from_environment().endpoint == "https://own.example"
    monkeypatch.setenv("HELM_HUB_ENDPOINT", "off")
    with pytest.raises(CorpusError) as raised:
        hub_from_environment()
    assert raised.value.code == "HUB_OFF" and raised.value.exit_code == 5
    monkeypatch.delenv("HELM_HUB_ENDPOINT")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(CorpusError):
        hub_from_environment()
    monkeypatch.setenv("HELM_HUB_ENDPOINT", "https://own.example")
    assert hub_from_environment().endpoint == "https://own.example"
    for wrong in ("ftp://x.example", "nothing", "http://"):
        with pytest.raises(CorpusError):
            HubHttp(wrong)


def test_names() -> None:
    fineweb = HubName("HuggingFaceFW/fineweb-edu", "sample-10BT")
    assert parse_name("fineweb-edu") == fineweb
    assert parse_name("fineweb-edu@abc") == HubName(fineweb.repo, fineweb.config, "abc")
    assert parse_name("hub:a/b") == HubName("a/b")
    assert parse_name("hub:a/b/c@refs/convert/parquet") == HubName("a/b", "c", "refs/convert/parquet")
    assert str(parse_name("hub:a/b/c@v1")) == "hub:a/b/c@v1"
    assert parse_name("./fineweb-edu") == Path("fineweb-edu") and parse_name("a/b") == Path("a/b")
    for wrong in (
        "hub:",
        "hub:a",
        "hub:a/b/c/d",
        "hub:../b",
        "hub:a/b@..",
        "hub:a/b@",
        "hub:a/b c",
        "hub:-a/b",
    ):
        with pytest.raises(CorpusError) as raised:
            parse_name(wrong)
        assert raised.value.code == "CORPUS_NAME"
