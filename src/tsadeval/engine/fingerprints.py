"""Digests of objects: the same in every process, different where state or code differ.

An object is taken apart as `pickle` would do it (`__reduce_ex__`), but classes and functions are described by their
code instead of their names. What is installed (standard library, site-packages, tsadeval) is described by its name
and version.
"""

from __future__ import annotations

import copyreg
import dis
import functools
import hashlib
import threading
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from tsadeval.engine.sources import installed, source_digest

__all__ = ["Digester", "Unkeyable"]

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
