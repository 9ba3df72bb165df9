"""The simulated driver's library: no GPU is asked anywhere in this folder."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path | None:
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    file = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    source = Path(__file__).with_name("simulated_nvml.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", file, source], check=True)
    return file
