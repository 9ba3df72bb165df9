"""Peak memory of capture and fit over corpora of two lengths, each in a process of its own.

`python tests/measure_memory.py` prints what it measured; test_moment_memory.py holds it to a bound. The
models are small and their moment matrices wide, so that moments and rows are what memory goes to.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

LAYERS, HEAD_DIM, WORDS = 4, 64, 96
# 2 KV heads: the joint rows of both models' layers.
COLUMNS = 2 * LAYERS * 2 * HEAD_DIM
FIT, SELECT = 64, 48
TIMES = (1, 8)


def rows_bytes(times: int) -> int:
    """What the rows of such a corpus would take, keys and values in float32, were they kept."""
    return 2 * 4 * COLUMNS * (FIT + SELECT) * (WORDS + 2) * times


def peak_bytes(times: int, folder: Path) -> int:
    """Peak resident memory of a process that captures and fits over `times` the corpus."""
    source = Path(__file__).parents[1] / "src"
    environment = {**os.environ, "PYTHONPATH": f"{source}:{Path(__file__).parent}", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, __file__, str(times), str(folder)],
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return int(json.loads(done.stdout.splitlines()[-1])["peak"])


def _measured(times: int, folder: Path) -> int:
    from tiny import save_corpus, tiny_model, tiny_tokenizer

    from lifeboat_kv.calibration.calibrate import Options
    from lifeboat_kv.calibration.fitting import fit_run
    from lifeboat_kv.calibration.opening import open_run
    from lifeboat_kv.events import Events
    from lifeboat_kv.methods import METHODS

    models = [folder / f"{name}-{times}" for name in ("source", "target")]
    for seed, path in enumerate(models):
        tiny_model(LAYERS, 32, seed, head_dim=HEAD_DIM).save_pretrained(path)
        tiny_tokenizer().save_pretrained(path)
    corpus = save_corpus(folder / f"corpus-{times}", fit=(FIT + SELECT) * times, probes=20, words=WORDS)
    sizes = {"fit": FIT * times, "select": SELECT * times, "gate": 4, "report": 4, "seq_len": WORDS + 2}
    method = METHODS["ridge"]
    options = Options(
        *models,
        str(corpus),
        folder / "out",
        k=2,
        device="cpu",
        method="ridge",
        sizes=sizes,
        batch_tokens=2048,
    )
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        fit_run(open_run(options, Events(nowhere), [method]), [method], method)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


def main() -> None:
    """Prints both peaks, their difference, and what the rows would have taken."""
    with tempfile.TemporaryDirectory() as folder:
        peaks = {times: peak_bytes(times, Path(folder)) for times in TIMES}
    for times, peak in peaks.items():
        print(f"{times}x: peak {peak / 2**20:.1f} MiB; its rows, kept, {rows_bytes(times) / 2**20:.1f} MiB")
    print(f"difference {(peaks[TIMES[1]] - peaks[TIMES[0]]) / 2**20:.1f} MiB, {COLUMNS} columns")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps({"peak": _measured(int(sys.argv[1]), Path(sys.argv[2]))}))
    else:
        main()
