"""Only the compiled kernels; everything else is in pyproject.toml."""

import os
import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

flags = ["/O2"] if sys.platform == "win32" else ["-O3"]
# What every kernel needs of Cython itself is compiled once instead of eleven times.
shared = "tsadeval._cyutility"
kernels = [
    Extension("*", ["src/tsadeval/**/*.pyx"], extra_compile_args=flags),
    Extension(shared, ["src/tsadeval/_cyutility.c"]),
]
directives = {
    "language_level": "3",
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}

setup(
    ext_modules=cythonize(kernels, compiler_directives=directives, shared_utility_qualified_name=shared),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
