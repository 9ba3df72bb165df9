"""What an engine's memory was promised to, and what it measured of itself while it was opened."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from ..host.memory import free_bytes
from .memory_ledger import MemoryLedger
from .process_memory import resident_memory

log = logging.getLogger(__name__)


class MemoryBook:
    """Made before the first model is loaded: what is resident then is the runtime's, Python's and PyTorch's.

    On a CPU `device` and `host` are one ledger.
    """

    def __init__(self, device: torch.device) -> None:
        self.runtime = resident_memory()
        self.host = MemoryLedger("host", lambda: free_bytes("cpu"))
        on_host = device.type == "cpu"
        self.device = self.host if on_host else MemoryLedger("GPU", lambda: free_bytes(device))
        self.load_bytes: dict[str, int] = {}

    @contextmanager
    def loading(self, name: str) -> Iterator[None]:
        """Measures what the process grows by while a model is loaded: weights, tokenizer, its code."""
        before = resident_memory()
        yield
        after = resident_memory()
        if before is None or after is None:
            return
        self.load_bytes[name] = max(0, after.total - before.total)
        free = self.device.free()
        log.info(
            "%s is loaded: %d MiB more resident, %s MiB free",
            name,
            self.load_bytes[name] >> 20,
            "unknown" if free is None else free >> 20,
        )
