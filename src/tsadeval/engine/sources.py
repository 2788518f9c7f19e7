"""Sources of modules: which are installed packages, and a digest of the text of those that are not."""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path

__all__ = ["installed", "source_digest"]


def installed(module: str) -> bool:
    """Is the module part of Python, of an installed package, or of tsadeval?

    >>> installed("json"), installed("numpy.linalg"), installed("__main__")
    (True, True, False)
    """
    top = module.partition(".")[0]
    if top == "tsadeval" or top in sys.builtin_module_names:
        return True
    path = None if module == "__main__" else _file(module)
    return path is not None and os.path.realpath(path).startswith(_roots())


def source_digest(module: str) -> str:
    """A digest of a module's source and of the modules that it imports; of what is installed, name and version.

    Of `__main__` there is none: other lines of a script may change without changing what a function computes.
    """
    if module in ("", "__main__"):
        return ""
    digest = hashlib.sha256()
    todo, seen = [module], {module}
    while todo:
        name = todo.pop()
        if installed(name):
            top = name.partition(".")[0]
            digest.update(f"{top} {_version(top)}\n".encode())
            continue
        path = _file(name)
        if path is None:  # made at run time, in a notebook say: only its live code is known
            continue
        content = Path(path).read_bytes()
        digest.update(f"{name} {hashlib.sha256(content).hexdigest()}\n".encode())
        if path.endswith(".py"):
            package = name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]
            new = {one for one in _imports(content, package) if one not in seen and _exists(one)}
            seen |= new
            todo += sorted(new, reverse=True)
    return digest.hexdigest()


@lru_cache(maxsize=1024)
def _imports(content: bytes, package: str) -> tuple[str, ...]:
    """All names that import statements anywhere in a text may mean; `from a import b` may mean a module a.b."""
    try:
        nodes = list(ast.walk(ast.parse(content)))
    except (SyntaxError, ValueError):
        return ()
    found: dict[str, None] = {}
    for node in nodes:
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            names = [f"{base}.{alias.name}" for alias in node.names] if base else []
        for name in names:
            top = name.partition(".")[0]
            found |= dict.fromkeys([top] if installed(top) else _ancestors(name))
    return tuple(found)


def _ancestors(name: str) -> Iterator[str]:
    parts = name.split(".")
    return (".".join(parts[: i + 1]) for i in range(len(parts)))


def _exists(name: str) -> bool:
    return name in sys.builtin_module_names or name in sys.modules or _file(name) is not None


def _file(name: str) -> str | None:
    """The file of a module, without importing it."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        path = getattr(loaded, "__file__", None)
        return path if path is not None and os.path.isfile(path) else None
    top, *below = _ancestors(name)
    try:
        spec = importlib.util.find_spec(top)
        for ancestor in below:
            spec = PathFinder.find_spec(ancestor, list((spec and spec.submodule_search_locations) or ()))
    except (ImportError, ValueError):
        return None
    return spec.origin if spec is not None and spec.origin and os.path.isfile(spec.origin) else None


@cache
def _roots() -> tuple[str, ...]:
    """Folders of the standard library and of installed packages."""
    keys = ("stdlib", "platstdlib", "purelib", "platlib")
    found = {os.path.realpath(sysconfig.get_paths()[key]) for key in keys}
    return tuple(sorted(os.path.join(path, "") for path in found))


@cache
def _version(top: str) -> str:
    if top == "tsadeval":
        from tsadeval import __version__

        return __version__
    if top in sys.stdlib_module_names:
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    try:
        return importlib.metadata.version(top)
    except importlib.metadata.PackageNotFoundError:  # sklearn comes with scikit-learn
        names = importlib.metadata.packages_distributions().get(top)
    if names:
        return importlib.metadata.version(names[0])
    path = _file(top)
    return "" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()
