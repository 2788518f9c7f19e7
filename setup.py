"""Only the compiled kernels; everything else is in pyproject.toml."""

import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

flags = ["/O2"] if sys.platform == "win32" else ["-O3"]
kernels = [Extension("*", ["src/tsadeval/**/*.pyx"], extra_compile_args=flags)]
directives = {
    "language_level": "3",
    "boundscheck": False,
    "wraparound": False,
    "cdivision": True,
    "initializedcheck": False,
}

setup(ext_modules=cythonize(kernels, compiler_directives=directives))
