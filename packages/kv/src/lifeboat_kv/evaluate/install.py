"""The harness lives in an environment of its own, on top of the library's: nothing of that is replaced.

`packages/kv/.venv-evaluate` sees the main environment's packages (torch is not installed again) and adds the
harness with what it needs. In the main one, those packages would be imported by every job: transformers
loads scikit-learn and pandas as soon as they are there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

from ..errors import EXIT_UNREADABLE, HelmError
from ..events import Events

KV = Path(__file__).resolve().parents[3]
VENV = KV / ".venv-evaluate"
REQUIREMENTS = KV / "requirements-evaluate.txt"
CONSTRAINTS = KV / "constraints.txt"
_STAMP = ".helm-installed"


def require_installed() -> None:
    """Errors: HelmError EVALUATE_NOT_INSTALLED (5) where this Python has no harness."""
    if importlib.util.find_spec("lm_eval") is None:
        raise HelmError(
            "EVALUATE_NOT_INSTALLED",
            "lm-evaluation-harness is not installed: run lifeboat helm evaluate --install",
            exit_code=EXIT_UNREADABLE,
        )


def install(events: Events, folder: Path = VENV) -> None:
    """Makes or renews `folder`, unless it is up to date. To be run with the main environment's Python.

    Errors: HelmError EVALUATE_INSTALL_FAILED (5) with pip's last line.
    """
    packages = Path(sysconfig.get_paths()["purelib"])
    digest = _digest(packages)
    stamp = folder / _STAMP
    if stamp.is_file() and stamp.read_text(encoding="ascii") == digest:
        events.log("info", f"lm-evaluation-harness is installed in {folder}")
        return
    events.log("info", f"installing lm-evaluation-harness into {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    own = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    (Path(own) / "helm-main-environment.pth").write_text(f"{packages}\n", encoding="utf-8")
    pip = [str(python), "-m", "pip", "install", "--no-compile", "--disable-pip-version-check", "--no-input"]
    done = subprocess.run(
        [*pip, "-c", str(CONSTRAINTS), "-r", str(REQUIREMENTS)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        errors = [line for line in done.stdout.splitlines() if line.startswith("ERROR")]
        why = (errors or done.stdout.splitlines() or ["pip said nothing"])[-1]
        raise HelmError(
            "EVALUATE_INSTALL_FAILED",
            f"pip could not install lm-evaluation-harness: {why} Is the Python package index reachable?",
            exit_code=EXIT_UNREADABLE,
        )
    stamp.write_text(digest, encoding="ascii")
    events.log("info", f"lm-evaluation-harness is installed in {folder}")


def _digest(packages: Path) -> str:
    content = b"".join(file.read_bytes() for file in (CONSTRAINTS, REQUIREMENTS))
    return hashlib.sha256(content + str(packages).encode() + sys.version.encode()).hexdigest()
