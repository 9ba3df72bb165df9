"""Tests of the evaluation use the tiny models one folder up, on one thread whatever ran before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))


@pytest.fixture(scope="module", autouse=True)
def always_one_thread(one_thread):
    """Every test of this folder."""
