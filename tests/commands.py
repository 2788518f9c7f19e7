"""The command line in this process: what `python -m tsadeval` does, without the start of another Python."""

import contextlib
import importlib
import io
import os
import sys
from pathlib import Path
from typing import NamedTuple

import joblib
import pytest

from tsadeval.cli import main


class Done(NamedTuple):
    """As `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments, cwd=None, **environment):
    """Run a command in a folder (the current one by default), with these environment variables set."""
    output, errors = io.StringIO(), io.StringIO()
    before = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd or os.getcwd())
        patch.setattr(sys, "argv", ["tsadeval", *map(str, arguments)])
        patch.setattr(sys, "path", [os.getcwd(), *sys.path])
        for name, value in environment.items():
            patch.setenv(name, value)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors), pytest.raises(SystemExit) as stop:
            main()
    if cwd is not None:
        _forget_modules(Path(cwd).resolve(), set(sys.modules) - before)
    return Done(stop.value.code or 0, output.getvalue(), errors.getvalue())


def run_here(*arguments, cwd=None, **environment):
    """As `run`, with the work in this process too, whatever `--jobs` says: each worker process imports all anew.

    For tests of what commands say and keep; those of workers are in `faults`.
    """
    with joblib.parallel_config(backend="sequential"):
        return run(*arguments, cwd=cwd, **environment)


def _forget_modules(folder, names):
    """Another test may have a module of the same name in its own folder."""
    for name in names:
        file = getattr(sys.modules[name], "__file__", None)
        if file is not None and Path(file).is_relative_to(folder):
            del sys.modules[name]
    importlib.invalidate_caches()
