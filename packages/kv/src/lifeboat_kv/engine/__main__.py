"""`python -m lifeboat_kv.engine`: reads options, loads models, serves until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import sys

from ..errors import HelmError
from ..host.parent import end_with_parent
from .logs import log_to_stderr


def main() -> int:
    """The process's exit code: 0 after a drain, a `HelmError`'s own code when it cannot start."""
    # From here on: whoever dies while models load would be missed by what is looked at once they are loaded.
    end_with_parent(os.environ.get("LIFEBOAT_PARENT_PID"))
    # What modules make stays: collecting while they load takes a fifth of the time, and no later collection
    # has to go through it.
    gc.disable()
    from .options import parse_options
    from .run import serve

    gc.freeze()
    gc.enable()

    try:
        options = parse_options(sys.argv[1:])
        log_to_stderr(options.log_level)
        return asyncio.run(serve(options))
    except HelmError as error:
        # Who started the engine reads its end where it would have read that it is ready.
        print(json.dumps({"event": "failed", "code": error.code, "message": error.message}), flush=True)
        print(f"{error.code}: {error.message}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    # Everything is closed; taking torch apart beside a daemon thread only costs time and can crash.
    os._exit(code)
