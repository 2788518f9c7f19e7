"""The command line: one file a verb, no logic of its own."""

from __future__ import annotations

import sys

from tsadeval.errors import TsadevalError


def main() -> None:
    """Run the command line; what the user got wrong becomes one line and exit code 2."""
    try:
        from tsadeval.cli.app import app

        app()
    except (TsadevalError, OSError) as error:
        print(f"tsadeval: {error}", file=sys.stderr)
        raise SystemExit(2) from None
