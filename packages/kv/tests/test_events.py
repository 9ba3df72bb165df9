"""What a library's logger says while a run is watched is told as log events, and only then."""

from __future__ import annotations

import io
import json
import logging

from lifeboat_kv.events import Events, telling


def test_a_logger_is_told_while_it_lasts() -> None:
    out = io.StringIO()
    speaker = logging.getLogger("lifeboat_kv.corpora.hub")
    speaker.setLevel(logging.INFO)
    speaker.info("before")
    with telling(Events(out), "lifeboat_kv.corpora"):
        speaker.info("downloading %s, %d MiB", "a.parquet", 2048)
        speaker.debug("not this")
    speaker.info("after")
    told = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(one["type"], one["level"], one["message"]) for one in told] == [
        ("log", "info", "downloading a.parquet, 2048 MiB")
    ]
