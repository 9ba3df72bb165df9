"""`python -m lifeboat_kv.bench`: what `npm run bench:kv` runs."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

_TITLE = """# Kernels of a calibration and a transfer

Made by `npm run bench:kv -- --write`; random numbers of the models' shapes, no models.

"""


def main(argv: list[str] | None = None) -> int:
    """Prints the report, or the numbers as JSON. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="bench:kv", description="Speed and memory of the inner kernels.")
    parser.add_argument("--quick", action="store_true", help="fewer lengths and repeats, about a minute")
    parser.add_argument("--json", action="store_true", help="numbers as JSON on stdout")
    parser.add_argument("--write", type=Path, metavar="FILE", help="also write the report there")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--seconds", type=float, help="begin no further map after this long")
    arguments = parser.parse_args(argv)
    # Before torch is loaded: threads that spin at barriers stop each other on shared cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    from .report import report
    from .run import Budget, bench

    if arguments.device == "cuda" and not torch.cuda.is_available():
        print("bench:kv: torch finds no GPU; run it without --device cuda", file=sys.stderr)
        return 4
    gpu = arguments.device != "cpu" and torch.cuda.is_available()
    found = bench(
        torch.device("cuda" if gpu else "cpu"),
        Budget.of(quick=arguments.quick, limit=arguments.seconds),
        lambda line: print(f"  {line}", file=sys.stderr, flush=True),
    )
    text = report(found)
    print(json.dumps(found) if arguments.json else text)
    if arguments.write:
        arguments.write.parent.mkdir(parents=True, exist_ok=True)
        arguments.write.write_text(_TITLE + text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
