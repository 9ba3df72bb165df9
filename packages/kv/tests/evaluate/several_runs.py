"""Run with the harness's Python: the verb several times in one process, since importing the harness is slow.

Reads argument lists, one JSON list a line, and answers each with its events and a line {"exit": code}.
"""

from __future__ import annotations

import json
import sys

from lifeboat_kv.__main__ import main

for line in iter(sys.stdin.readline, ""):
    print(json.dumps({"exit": main(json.loads(line))}), flush=True)
