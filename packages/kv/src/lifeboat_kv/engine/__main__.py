"""`python -m lifeboat_kv.engine`: reads options, loads models, serves until SIGTERM or SIGINT."""

from __future__ import annotations

import asyncio
import logging
import os
import sys

from ..errors import HelmError
from .options import parse_options
from .run import serve


def main() -> int:
    """The process's exit code: 0 after a drain, a `HelmError`'s own code when it cannot start."""
    logging.basicConfig(
        stream=sys.stderr,
        level=os.environ.get("LIFEBOAT_LOG", "INFO").upper(),
        format='{"time":"%(asctime)s","level":"%(levelname)s","name":"%(name)s","message":"%(message)s"}',
    )
    try:
        options = parse_options(sys.argv[1:])
        return asyncio.run(serve(options))
    except HelmError as error:
        print(f"{error.code}: {error.message}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
