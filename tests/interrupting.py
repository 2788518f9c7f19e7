"""A command that is stopped with Ctrl-C in the middle of its work."""

import os
import signal
import subprocess
import sys
import time

import pytest


def interrupt(command, folder, store, parts):
    """Run the command, press Ctrl-C once its store has so many parts, and return the one line that it said then."""
    if sys.platform == "win32":
        pytest.skip("Windows has no signal that interrupts one process only")
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while len(list((folder / store).glob("parts/*.parquet"))) < parts:
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert output == ""
    (line,) = errors.splitlines()
    return line
