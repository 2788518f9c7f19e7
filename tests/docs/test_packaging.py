"""Building the package: what it says where it cannot be built."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Runs setup.py in this process with something missing, as a machine would be; cythonize is not what is tested.
BUILD = """
import sys, sysconfig, runpy
import Cython.Build
from setuptools import Extension
Cython.Build.cythonize = lambda *args, **options: [Extension("tsadeval.nothing", ["nothing.c"])]
if sys.argv.pop(1) == "headers":
    real = sysconfig.get_path
    sysconfig.get_path = lambda name, *rest: "no-such-folder" if name == "include" else real(name, *rest)
sys.argv[0] = "setup.py"
runpy.run_path("setup.py", run_name="__main__")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there the compiler is not found by its name")
@pytest.mark.parametrize("step", ["build", "build_ext"])
@pytest.mark.parametrize(
    ("missing", "words"),
    [
        ("compiler", "the C compiler 'no-such-cc' was not found: install one"),
        ("headers", "the header Python.h was not found: install Python's development files"),
    ],
)
def test_what_is_missing_is_said_in_one_sentence(missing, words, step, tmp_path):
    compiler = {"CC": "no-such-cc"} if missing == "compiler" else {}
    command = [sys.executable, "-c", BUILD, missing, "-q", step, "-b", str(tmp_path), "-t", str(tmp_path)]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **compiler}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    (sentence,) = [line for line in done.stderr.splitlines() if line.startswith("tsadeval")]
    assert words in sentence
    assert sentence.endswith("or install a wheel, which needs none")
    assert done.stderr.splitlines()[-1] == sentence  # no traceback, nothing of distutils after it
    assert not list(tmp_path.rglob("*.py"))  # nothing was done before


def test_files_that_are_not_python_are_shipped():
    """What the library reads at run time must be named as data of the package, or a wheel lacks it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    shipped = {*settings["package-data"]["tsadeval"], *(f"**/{name}" for name in settings["package-data"]["*"])}
    built = ["**/*.py", "**/*.so", "**/*.pyd", *(f"**/{name}" for name in settings["exclude-package-data"]["*"])]
    package = ROOT / "src" / "tsadeval"
    known = {file for pattern in [*shipped, *built] for file in package.glob(pattern)}
    files = {file for file in package.rglob("*") if file.is_file() and "__pycache__" not in file.parts}
    assert sorted(files - known) == []
    assert package / "datasets" / "checksums.json" in known
