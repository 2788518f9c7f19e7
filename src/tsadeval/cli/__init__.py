"""The command line: commands of one kind are one file. It calls the library and prints what it returns."""

import atexit
import gc
import signal
import sys
import threading
from typing import Any

from tsadeval.errors import TsadevalError

_STOPPED = 130
# Objects between two searches for cycles. The default, 700, makes importing scikit-learn take a quarter longer.
_COLLECT = 20_000


def _end_sooner() -> None:
    """Leave out the last searches for cycles, which take a while where scikit-learn was imported.

    Torch and JAX have parts that complain where their objects are not freed one by one.
    """
    if not {"torch", "jax", "tensorflow"} & sys.modules.keys():
        gc.freeze()


def main() -> None:
    """Run the command line; what the user got wrong becomes one line and exit code 2, Ctrl-C and SIGTERM 130."""
    gc.set_threshold(_COLLECT)
    atexit.register(_end_sooner)
    stopped: list[int] = []

    def stop(number: int, frame: Any) -> None:
        stopped.append(number)
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        for one in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(one) in (signal.SIG_DFL, signal.default_int_handler):
                signal.signal(one, stop)
    try:
        from tsadeval.cli.app import app

        app()
    except KeyboardInterrupt:
        print("tsadeval: stopped", file=sys.stderr)
        raise SystemExit(_STOPPED) from None
    except SystemExit as end:  # typer says "Aborted", and exits with 1
        raise SystemExit(_STOPPED if stopped and end.code == 1 else end.code) from None
    except (TsadevalError, OSError) as error:
        print(f"tsadeval: {error}", file=sys.stderr)
        raise SystemExit(2) from None
