"""Whether the harness may ask a hub for documents, and whether one answers; called before its import."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from urllib.parse import urlsplit

from ..errors import CorpusError

PUBLIC_HUB = "https://huggingface.co"
_NEXT = (
    "give its documents with --data DIR (docs/evaluation.md has the folders), or evaluate helm_bundled, "
    "which needs none"
)


def close_hub() -> None:
    """Nothing is downloaded in this process."""
    os.environ["HF_HUB_OFFLINE"] = os.environ["HF_DATASETS_OFFLINE"] = "1"


def open_hub(tasks: Sequence[str]) -> None:
    """Lets the libraries use the hub of HELM_HUB_ENDPOINT, else of HF_ENDPOINT, else the public one.

    They read these variables once, when they are imported. Errors: CorpusError HUB_OFF, HUB_UNREACHABLE.
    """
    wanted = ", ".join(tasks)
    endpoint = os.environ.get("HELM_HUB_ENDPOINT")
    if endpoint is None and os.environ.get("HF_HUB_OFFLINE") == "1":
        raise CorpusError("HUB_OFF", f"this host allows no hub, and {wanted} is not here: {_NEXT}")
    endpoint = endpoint or os.environ.get("HF_ENDPOINT") or PUBLIC_HUB
    address = urlsplit(os.environ.get("HTTPS_PROXY") or endpoint)
    try:
        # A second or five now, in place of minutes of retries later.
        with socket.create_connection((address.hostname or "", address.port or 443), timeout=5):
            pass
    except OSError as error:
        raise CorpusError(
            "HUB_UNREACHABLE", f"the hub {endpoint} cannot be reached for {wanted}: {_NEXT}"
        ) from error
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
        os.environ.pop(name, None)
    os.environ["HF_ENDPOINT"] = endpoint
