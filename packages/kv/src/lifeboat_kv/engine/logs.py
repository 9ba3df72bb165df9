"""Log lines as JSON on stderr; stdout carries events only."""

from __future__ import annotations

import json
import logging
import sys
import time


class JsonLines(logging.Formatter):
    """One JSON object a line, with the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {
            "time": f"{stamp}.{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "name": record.name,
            "msg": record.getMessage(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)


def log_to_stderr(level: str) -> None:
    """Sends every logger's lines to stderr. An unknown level means INFO."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    known = logging.getLevelNamesMapping().get(level.upper(), logging.INFO)
    logging.basicConfig(level=known, handlers=[handler], force=True)
