"""Only the compiled kernels; everything else is in pyproject.toml."""

import os
import shutil
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build import build
from setuptools.command.build_ext import build_ext

from distutils.ccompiler import new_compiler  # isort: skip (setuptools provides it, so it comes after)
from distutils.sysconfig import customize_compiler  # isort: skip (likewise)

# Debug symbols would be most of a wheel; products and sums are rounded apart, so that all machines give equal digits.
flags = ["/O2"] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off"]
# For benchmarks/abi3.py only: it costs too much to be shipped (docs/releases.md has the numbers).
limited = {"py_limited_api": True, "define_macros": [("Py_LIMITED_API", "0x030B0000")]}
options = limited if os.environ.get("TSADEVAL_LIMITED_API") else {}
# What every kernel needs of Cython itself is compiled once instead of eleven times.
shared = "tsadeval._cyutility"
kernels = [
    Extension("*", ["src/tsadeval/**/*.pyx"], extra_compile_args=flags, **options),
    Extension(shared, ["src/tsadeval/_cyutility.c"], **options),
]
directives = {
    "language_level": "3",
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}


def check(compiler) -> None:
    """Say in one sentence what is missing on this machine."""
    command = getattr(compiler, "compiler_so", None)  # other compilers than Unix's say it themselves
    if command and not shutil.which(command[0]):
        raise SystemExit(
            f"tsadeval has compiled parts and the C compiler {command[0]!r} was not found: install one (Debian: "
            "apt install gcc; Fedora: dnf install gcc; macOS: xcode-select --install), "
            "or install a wheel, which needs none"
        )
    if command and not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        raise SystemExit(
            "tsadeval has compiled parts and the header Python.h was not found: install Python's development files "
            "(Debian: apt install python3-dev; Fedora: dnf install python3-devel), "
            "or install a wheel, which needs none"
        )


class Build(build):
    """The usual command of `pip install`, which looks for the compiler first, before it lists all files."""

    def run(self) -> None:
        compiler = new_compiler()
        customize_compiler(compiler)
        check(compiler)
        super().run()


class BuildKernels(build_ext):
    """The same for kernels alone, in place."""

    def build_extensions(self) -> None:
        check(self.compiler)
        super().build_extensions()


setup(
    ext_modules=cythonize(kernels, compiler_directives=directives, shared_utility_qualified_name=shared),
    cmdclass={"build": Build, "build_ext": BuildKernels},
    options={"build_ext": {"parallel": os.cpu_count()}},
)
