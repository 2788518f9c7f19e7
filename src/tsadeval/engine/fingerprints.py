"""Fingerprints of objects, code and modules: equal in every process, different where state or code differ.

An object is taken apart as `pickle` would do it (`__reduce_ex__`), but classes and functions are described by their
code instead of their names. What is installed (standard library, site-packages, tsadeval) is described by its name
and version.
"""

from __future__ import annotations

import ast
import copyreg
import dis
import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
import sysconfig
import threading
import types
import uuid
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

_PLAIN = {int, float, complex, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented)}
# Written in C and known by their names.
_NAMED = (
    types.BuiltinFunctionType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.MethodWrapperType,
    types.GetSetDescriptorType,
    types.MemberDescriptorType,
)
_LOCKS = (type(threading.Lock()), type(threading.RLock()))
# Attributes of a class that Python or the standard library derive from the others, or that no code computes with.
_DERIVED = {
    "__abstractmethods__",
    "__annotate__",
    "__annotate_func__",
    "__annotations__",
    "__annotations_cache__",
    "__dict__",
    "__doc__",
    "__firstlineno__",
    "__module__",
    "__slotnames__",  # set when an object of the class is first pickled
    "__static_attributes__",
    "__weakref__",
    "_abc_impl",
}


class Unkeyable(Exception):
    """The object has no description that would be the same in another process."""


class Digester:
    """One description of an object and of everything it refers to."""

    def __init__(self) -> None:
        self._found: dict[int, bytes] = {}
        self._open: dict[int, int] = {}
        self._sources: dict[str, str] = {}
        self._alive: list[Any] = []  # an id is that of one object as long as the object lives

    def digest(self, value: Any) -> bytes:
        """The digest of a value; objects that contain themselves are described by the way back."""
        kind = type(value)
        if kind in _PLAIN:
            return _hash(kind.__name__, hex(value) if kind is int else repr(value))
        key = id(value)
        if key in self._found:
            return self._found[key]
        if key in self._open:
            return _hash("cycle", len(self._open) - self._open[key])
        self._alive.append(value)
        self._open[key] = len(self._open)
        try:
            self._found[key] = _hash(*self._parts(value))
        finally:
            del self._open[key]
        return self._found[key]

    def _parts(self, value: Any) -> Iterator[Any]:
        """What describes a value: texts, and digests of what it consists of."""
        kind = type(value)
        yield kind.__name__
        if kind in (list, tuple):
            yield from map(self.digest, value)
        elif kind in (set, frozenset):
            yield from sorted(map(self.digest, value))
        elif kind in (dict, types.MappingProxyType):
            for key, one in value.items():
                yield from (self.digest(key), self.digest(one))
        elif isinstance(value, np.ndarray):
            yield from self._array(value)
        elif isinstance(value, np.generic):
            yield from (str(value.dtype), value.tobytes())
        elif hasattr(value, "detach") and hasattr(value, "cpu"):  # a torch tensor; pickle would write its address
            yield from (str(value.dtype), *self._array(value.detach().cpu().numpy()))
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.FunctionType):
            yield from self._function(value)
        elif isinstance(value, types.CodeType):
            yield from (value.co_code, repr(value.co_names), repr(value.co_freevars))
            yield from map(self.digest, value.co_consts)
        elif isinstance(value, types.ModuleType):
            yield from (value.__name__, self._source(value.__name__))
        elif isinstance(value, types.MethodType):
            yield from (self.digest(value.__func__), self.digest(value.__self__))
        elif isinstance(value, (staticmethod, classmethod)):
            yield self.digest(value.__func__)
        elif isinstance(value, property):
            yield from map(self.digest, (value.fget, value.fset, value.fdel))
        elif isinstance(value, functools._lru_cache_wrapper):
            yield self.digest(value.__wrapped__)
        elif isinstance(value, _NAMED):
            yield from self._named(value)
        elif isinstance(value, types.CellType):
            yield from self._cell(value)
        elif not isinstance(value, _LOCKS):
            yield from self._reduced(value)

    def _array(self, array: np.ndarray[Any, Any]) -> Iterator[Any]:
        yield from (repr(array.shape), repr(array.dtype.descr if array.dtype.names else array.dtype.str))
        if array.dtype.hasobject:
            yield from map(self.digest, array.ravel().tolist())
        else:
            yield hashlib.sha256(np.ascontiguousarray(array).data).digest() if array.size else ""

    def _cell(self, cell: types.CellType) -> Iterator[Any]:
        try:
            yield self.digest(cell.cell_contents)
        except ValueError:  # nothing was assigned yet
            yield "empty"

    def _source(self, module: str) -> str:
        if module not in self._sources:
            self._sources[module] = source_digest(module)
        return self._sources[module]

    def _named(self, value: Any) -> Iterator[Any]:
        owner = getattr(value, "__objclass__", None) or getattr(value, "__self__", None)
        module = getattr(value, "__module__", None) or getattr(owner, "__module__", None) or ""
        yield from (module, value.__qualname__, self._source(module))
        if not isinstance(owner, (type, types.ModuleType, type(None))):  # a method of an object
            yield self.digest(owner)

    def _class(self, value: type) -> Iterator[Any]:
        yield from (value.__module__, value.__qualname__, self._source(value.__module__))
        if installed(value.__module__) and "<locals>" not in value.__qualname__:
            return
        yield from map(self.digest, (type(value), *value.__bases__))
        for name, one in sorted(vars(value).items()):
            if name not in _DERIVED:
                yield from (name, self.digest(one))

    def _function(self, value: types.FunctionType) -> Iterator[Any]:
        module = value.__module__ or ""
        yield from (module, value.__qualname__, self._source(module))
        if installed(module) and "<locals>" not in value.__qualname__:
            return
        yield from map(self.digest, (value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__))
        for name, one in sorted(vars(value).items()):
            yield from (name, self.digest(one))
        if not installed(module):
            yield from self._globals(value)

    def _globals(self, function: types.FunctionType) -> Iterator[Any]:
        """What the code refers to by name: values of its module, and attributes of the modules it uses."""
        used, imports, attributes = _names(function.__code__)
        for name in sorted(used & set(function.__globals__)):
            one = function.__globals__[name]
            yield from (name, self.digest(one))
            if isinstance(one, types.ModuleType) and not installed(one.__name__):
                for attribute in sorted(attributes & set(vars(one))):
                    yield from (attribute, self.digest(vars(one)[attribute]))
        yield from map(self._source, sorted(imports))

    def _reduced(self, value: Any) -> Iterator[Any]:
        """Any other object, taken apart as for a pickle."""
        try:
            known = copyreg.dispatch_table.get(type(value))
            reduced = known(value) if known is not None else value.__reduce_ex__(4)
        except Exception as error:
            raise Unkeyable(f"{type(value).__name__}: {error}") from None
        if isinstance(reduced, str):  # it is a name of its module
            module = getattr(value, "__module__", None) or type(value).__module__
            yield from (module, reduced, self._source(module))
            return
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        yield from (self.digest(make), self.digest(arguments))
        for part in state if isinstance(state, tuple) else (state,):
            # The order in which attributes were set does not matter.
            plain = type(part) is dict and all(isinstance(name, str) for name in part)
            yield self.digest(dict(sorted(part.items())) if plain else part)
        yield from (self.digest(list(items or ())), self.digest(dict(pairs or ())))


def _names(code: types.CodeType) -> tuple[set[str], set[str], set[str]]:
    """Global names, imported modules and attributes that a function's code uses, with the functions inside it."""
    used, imports, attributes = set(), set(), set()
    for step in dis.get_instructions(code):
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            used.add(step.argval)
        elif step.opname == "IMPORT_NAME":
            imports.add(step.argval)
        elif step.opname in ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"):
            attributes.add(step.argval)
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            for own, inner in zip((used, imports, attributes), _names(one), strict=True):
                own |= inner
    return used, imports, attributes


def _hash(*parts: Any) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        content = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
        digest.update(f"{len(content)}:".encode())  # so that no two lists of parts run together
        digest.update(content)
    return digest.digest()


# Identity of code: the key that tells two states of a user's metric or detector apart.
#
# A store reuses a value only where its key is the same. The key of code from outside tsadeval is a digest (see
# `fingerprint`); that of a metric of the library is its version.


UNKEYED = "unkeyed-"


def fingerprint(thing: Any) -> str:
    """A key of a function or an object: equal in every process, different after any change that matters.

    It covers the object's state (attributes, arrays, arguments of a partial), its code (methods, class attributes,
    default values, closures), all that this code refers to by name (helpers, constants), the source of its module
    and of the modules that this one imports, and the versions of installed packages among them. Of a script
    (`__main__`) it covers what the code refers to, not the whole text, so that other lines of the script may change.

    It does not cover files that the code reads, environment variables, and names that are computed (`getattr` with
    a variable, `importlib.import_module`).

    What has no stable description (an open file, a generator, a connection) gets a key of its own each time, which
    begins with "unkeyed-": its values are never reused.

    >>> fingerprint(len) == fingerprint(len)
    True
    >>> fingerprint(n for n in "abc").startswith("unkeyed-")
    True
    """
    try:
        return Digester().digest(thing).hex()[:16]
    except (Unkeyable, RecursionError):
        return f"{UNKEYED}{uuid.uuid4().hex}"


# Sources of modules: which are installed packages, and a digest of the text of those that are not.


def installed(module: str) -> bool:
    """Return True if the module is part of Python, of an installed package, or of tsadeval.

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
