"""Writing the harness's task files (YAML) from dictionaries."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml


class Hook(str):
    """A function that a task file names: `!function package.module.name`."""


class _Dumper(yaml.SafeDumper):
    pass


_Dumper.add_representer(Hook, lambda dumper, value: dumper.represent_scalar("!function", str(value)))


def write_task_files(configs: Iterable[dict[str, Any]], folder: Path) -> list[str]:
    """One file each, named by its task or group; the names."""
    names = []
    for config in configs:
        names.append(str(config.get("group") or config["task"]))
        text = yaml.dump(config, Dumper=_Dumper, sort_keys=False)
        (folder / f"{names[-1]}.yaml").write_text(text, encoding="utf-8")
    return names
