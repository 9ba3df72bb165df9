"""Pipes and devices under the names of a model's files: refused by kind, never opened and waited for."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny import save_pair

from lifeboat_kv.errors import ModelError
from lifeboat_kv.models.facts import inspect_model
from lifeboat_kv.models.load import load_model, load_tokenizer

ODD_FILES = {
    "config.json": "CONFIG_UNREADABLE",
    "model.safetensors": "WEIGHTS_UNREADABLE",
    "model-00002.safetensors": "WEIGHTS_UNREADABLE",
    "model.safetensors.index.json": "WEIGHTS_UNREADABLE",
    "tokenizer.json": "TOKENIZER_UNREADABLE",
}


@pytest.mark.parametrize("name", ODD_FILES)
@pytest.mark.parametrize("kind", ["fifo", "endless"])
def test_what_is_no_file_is_refused_and_never_waited_for(tmp_path: Path, name: str, kind: str) -> None:
    source, _ = save_pair(tmp_path)
    (source / name).unlink(missing_ok=True)
    make_odd(source / name, kind)
    with pytest.raises(ModelError, match=re.escape(name)) as raised:
        ends(lambda: inspect_model(source))
    assert raised.value.code == ODD_FILES[name]


@pytest.mark.parametrize("kind", ["fifo", "endless"])
def test_an_older_tokenizer_and_what_only_the_library_opens_are_refused_too(
    tmp_path: Path, kind: str
) -> None:
    source, _ = save_pair(tmp_path)
    (source / "tokenizer.json").rename(tmp_path / "kept")
    make_odd(source / "vocab.txt", kind)
    with pytest.raises(ModelError) as raised:
        ends(lambda: inspect_model(source))
    assert raised.value.code == "TOKENIZER_UNREADABLE"
    (source / "vocab.txt").unlink()
    (tmp_path / "kept").rename(source / "tokenizer.json")
    (source / "chat_template.jinja").unlink(missing_ok=True)
    make_odd(source / "chat_template.jinja", kind)
    for load, code in ((load_tokenizer, "TOKENIZER_UNREADABLE"), (load_model, "MODEL_UNREADABLE")):
        with pytest.raises(ModelError, match=r"chat_template\.jinja is not a regular file") as raised:
            ends(lambda load=load: load(source))
        assert raised.value.code == code


def make_odd(path: Path, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


def ends(call: Callable[[], object]) -> object:
    """What `call` gives; a call that waits for ever is a failed test, not a test that waits for ever."""

    def stop(*_: object) -> None:
        raise TimeoutError("it waits")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(60)
    try:
        return call()
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
