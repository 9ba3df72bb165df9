"""What memory is free, and what the two models leave of it."""

from __future__ import annotations

import pytest

from lifeboat_kv.errors import ResourceError
from lifeboat_kv.host import free_memory, memory
from lifeboat_kv.host.memory import free_bytes, memory_budget


def test_what_is_free_is_a_number_and_the_models_are_taken_off(monkeypatch) -> None:
    free = free_bytes("cpu")
    assert free is None or free > 1 << 20
    monkeypatch.setattr(memory, "free_bytes", lambda device: 8 << 30)
    facts = {"parameters": 100_000_000}
    left = memory_budget(facts, facts, "cpu")
    assert left is not None and left < (8 << 30) - 2 * 400_000_000
    large = {"parameters": 2_100_000_000}
    with pytest.raises(ResourceError) as raised:
        memory_budget(facts, large, "cpu")
    assert raised.value.code == "MEMORY_SHORT" and "8192 MiB are free" in raised.value.message
    monkeypatch.setattr(memory, "free_bytes", lambda device: None)
    assert memory_budget(facts, large, "cpu") is None


def test_a_control_group_counts_less_its_idle_files(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(free_memory, "_CGROUP", tmp_path)
    assert free_memory._group_bytes() is None
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 400\ninactive_file 200\n")
    assert free_memory._group_bytes() == 500
    (tmp_path / "memory.max").write_text("max\n")
    assert free_memory._group_bytes() is None
