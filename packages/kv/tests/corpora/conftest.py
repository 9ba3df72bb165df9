from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """Downloads and the register of digests of one test, apart from the user's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("HELM_HUB_ENDPOINT", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HELM_HUB_STORAGE", "HF_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "lifeboat-kv" / "corpora"
