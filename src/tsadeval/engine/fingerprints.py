"""Fingerprints of objects, code and modules: equal in every process, different where state or code differ.

An object is taken apart as `pickle` would do it (`__reduce_ex__`), but classes and functions are described by their
code instead of their names. What is installed (standard library, site-packages, tsadeval) is described by its name
and version.
"""

import ast
import copyreg
import dis
import functools
import hashlib
import importlib.metadata
import importlib.util
import inspect
import operator
import os
import sys
import sysconfig
import threading
import types
import uuid
from collections.abc import Iterator
from contextlib import suppress
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

UNKEYED = "unkeyed-"
_PLAIN = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), type(NotImplemented))
# Objects that `pickle` does not take apart, and the attributes that describe them.
_ATTRIBUTES: dict[type, tuple[str, ...]] = {
    types.CodeType: ("co_code", "co_names", "co_freevars", "co_consts"),
    types.CellType: ("cell_contents",),
    types.ModuleType: ("__name__",),
    types.MethodType: ("__func__", "__self__"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget", "fset", "fdel"),
    functools._lru_cache_wrapper: ("__wrapped__",),
    type(threading.Lock()): (),
    type(threading.RLock()): (),
}
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


def fingerprint(thing: Any) -> str:
    """Return a key of a function or an object: equal in every process, different after any change that matters.

    It covers the object's state (attributes, arrays, arguments of a partial), its code (methods, class attributes,
    default values, closures), all that this code refers to by name (helpers, constants), the source of its module
    and of the modules that this one imports, and the versions of installed packages among them; of those that were
    installed from a folder, a repository or a file, where a version may come twice, the checksums too. Of a script
    (`__main__`) it covers what the code refers to, not the whole text, so that other lines of the script may change.

    It does not cover files that the code reads, environment variables, and names that are computed (`getattr` with
    a variable, `importlib.import_module`).

    What has no stable description (an open file, a generator, a connection) gets a key of its own each time, which
    begins with "unkeyed-": its values are never reused.
    """
    try:
        return _Digester().digest(thing).hex()[:16]
    except Exception:  # whatever the object's own code raises when it is asked for its state
        return f"{UNKEYED}{uuid.uuid4().hex}"


class _Digester:
    """One description of an object and of everything it refers to."""

    def __init__(self) -> None:
        self._found: dict[int, tuple[Any, bytes]] = {}  # with the object: an id is its own as long as it lives
        self._open: list[int] = []
        self._source = functools.cache(source_digest)

    def digest(self, value: Any) -> bytes:
        """Return the digest of a value; objects that contain themselves are described by the way back."""
        kind = type(value)
        if kind in _PLAIN:
            text = hex(value) if kind is int else hashlib.sha256(value).digest() if kind is bytes else repr(value)
            return _hash(kind.__name__, text)
        key = id(value)
        if key in self._open:
            return _hash("cycle", str(len(self._open) - self._open.index(key)))
        if key not in self._found:
            self._open.append(key)
            self._found[key] = (value, _hash(kind.__name__, *self._parts(value)))
            self._open.pop()
        return self._found[key][1]

    def _parts(self, value: Any) -> Iterator[str | bytes]:
        """Yield what describes a value: texts, and digests of what it consists of."""
        kind = type(value)
        if kind in (list, tuple):
            yield from map(self.digest, value)
        elif kind in (set, frozenset):
            yield from sorted(map(self.digest, value))
        elif kind in (dict, types.MappingProxyType):
            yield from map(self.digest, chain.from_iterable(value.items()))
        elif hasattr(value, "detach") and hasattr(value, "cpu"):  # a torch tensor; pickle would write its address
            yield from self._tensor(value.detach().cpu())
        elif isinstance(value, (type, types.FunctionType)):
            yield from self._code(value)
        elif kind in _ATTRIBUTES:
            yield self._source(value.__name__ if kind is types.ModuleType else "")
            yield from (self.digest(getattr(value, name)) for name in _ATTRIBUTES[kind])
            if kind is types.CodeType and (stars := value.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)):
                yield str(stars)
        else:
            yield from self._reduced(value)

    def _tensor(self, value: Any) -> Iterator[str | bytes]:
        """Describe a tensor; those of kinds that NumPy does not have, as what they stand for, and their kind."""
        if str(value.layout) != "torch.strided" or "float8" in str(value.dtype) or "bfloat16" in str(value.dtype):
            yield f"{value.layout} {value.dtype}"
            value = value.to_dense()
            value = value.double() if value.is_floating_point() else value
        yield self.digest(value.numpy())

    def _code(self, value: Any) -> Iterator[str | bytes]:
        """Describe a class or a function: by its name and version if it is installed, else by what it consists of."""
        module = value.__module__ or ""
        yield from (module, value.__qualname__, self._source(module))
        if installed(module) and "<locals>" not in value.__qualname__:
            return
        if isinstance(value, type):
            yield from map(self.digest, (type(value), *value.__bases__))
        else:
            yield from map(self.digest, (value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__))
            yield from () if installed(module) else self._globals(value)
        for name, one in sorted(vars(value).items()):
            if name not in _DERIVED:
                yield from (name, self.digest(one))

    def _globals(self, function: types.FunctionType) -> Iterator[str | bytes]:
        """Describe what code refers to by name: values of its module, and attributes of the modules it uses."""
        steps = list(_steps(function.__code__))
        used, attributes, imports = (
            {step.argval for step in steps if step.opname in names}
            for names in (("LOAD_GLOBAL", "LOAD_NAME"), ("LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"), ("IMPORT_NAME",))
        )
        for name in sorted(used & set(function.__globals__)):
            one = function.__globals__[name]
            yield from (name, self.digest(one))
            for attribute in sorted(attributes & set(vars(one))) if isinstance(one, types.ModuleType) else ():
                if not installed(one.__name__) or self._was_set(one, attribute):
                    yield from (attribute, self.digest(vars(one)[attribute]))
        yield from map(self._source, sorted(imports))

    def _was_set(self, module: types.ModuleType, name: str) -> bool:
        """Return True if an attribute of an installed module may be another than its package gives it."""
        value, top = vars(module)[name], module.__name__.partition(".")[0]
        if isinstance(value, (type, types.FunctionType)):
            return not installed(value.__module__ or "")
        path = _file(module.__name__) or ""
        if isinstance(value, types.ModuleType) or not path.endswith(".py"):
            return False
        if top in sys.stdlib_module_names or top == __name__.partition(".")[0]:
            return False
        for other, one in list(sys.modules.items()):
            if one is not module and other.startswith(f"{top}.") and getattr(one, "__dict__", {}).get(name) is value:
                return False  # imported from there
        literals = _literals(Path(path).read_bytes())
        return name not in literals or self.digest(literals[name]) != self.digest(value)

    def _reduced(self, value: Any) -> Iterator[str | bytes]:
        """Describe any other object, taken apart as for a pickle."""
        known = copyreg.dispatch_table.get(type(value))
        reduced = known(value) if known is not None else value.__reduce_ex__(4)
        if isinstance(reduced, str):  # it is a name of its module
            named = getattr(value, "__module__", None) or type(value).__module__
            # NumPy does not say whose a function of SciPy is; one of `np.frompyfunc` is nobody's.
            module = named if _has(named, reduced, value) else _home(reduced, value)
            yield from (module, reduced, self._source(module))
            return
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        yield from (self.digest(make), self.digest(arguments))
        for part in state if isinstance(state, tuple) else (state,):
            # The order in which attributes were set does not matter.
            plain = type(part) is dict and all(isinstance(name, str) for name in part)
            yield self.digest(dict(sorted(part.items())) if plain else part)
        yield from (self.digest(list(items or ())), self.digest(dict(pairs or ())))
        kinds: tuple[Any, ...] = (np.ndarray, np.ma.MaskedArray)
        bare = any(type(value).__reduce__ is kind.__reduce__ and type(value) is not kind for kind in kinds)
        if bare and not type(value).__module__.startswith("numpy") and vars(value):
            yield self.digest(dict(sorted(vars(value).items())))  # which NumPy leaves out


def _steps(code: types.CodeType) -> Iterator[dis.Instruction]:
    """Yield the instructions of a function, with those of the functions inside it."""
    yield from dis.get_instructions(code)
    for one in code.co_consts:
        yield from _steps(one) if isinstance(one, types.CodeType) else ()


def _has(module: str, name: str, value: Any) -> bool:
    """Return True if a name of a module means this object."""
    try:
        return operator.attrgetter(name)(sys.modules[module]) is value
    except (AttributeError, KeyError):
        return False


def _home(name: str, value: Any) -> str:
    """Return the installed module that has this object by name, the highest of several."""
    modules = [key for key, one in list(sys.modules.items()) if getattr(one, "__dict__", {}).get(name) is value]
    found = sorted(filter(installed, modules), key=lambda key: (key.count("."), key))
    if not found:
        raise TypeError(f"no module has {name}")
    return found[0]


def _hash(*parts: str | bytes) -> bytes:
    return hashlib.sha256(repr(parts).encode()).digest()


def installed(module: str) -> bool:
    """Return True if the module is part of Python, of an installed package, or of tsadeval."""
    path = None if module in ("", "__main__") else _file(module)
    if path is None:
        return module.partition(".")[0] in sys.stdlib_module_names  # built in or frozen
    return os.path.realpath(path).startswith(_roots())


@functools.cache
def _roots() -> tuple[str, ...]:
    """Return the folders of the standard library, of installed packages and of tsadeval."""
    folders = [sysconfig.get_path(key) for key in ("stdlib", "platstdlib", "purelib", "platlib")]
    return tuple(os.path.join(os.path.realpath(path), "") for path in [*folders, str(Path(__file__).parents[1])])


def source_digest(module: str) -> str:
    """Return a digest of a module's source and of the modules that it imports; of what is installed, name and version.

    Of `__main__` there is none: other lines of a script may change without changing what a function computes. Of a
    module made at run time, in a notebook say, only the live code is known.
    """
    found: dict[str, str] = {}
    todo = {module} - {"", "__main__"}
    while todo:
        name = todo.pop()
        path = _file(name)
        if installed(name):
            found[name] = _version(name.partition(".")[0])
        elif path is not None:
            content = Path(path).read_bytes()
            found[name] = hashlib.sha256(content).hexdigest()
            package = name if os.path.basename(path) == "__init__.py" else name.rpartition(".")[0]
            todo |= _imports(content, package) - set(found) if path.endswith(".py") else set()
    return repr(sorted(found.items()))


@functools.lru_cache(maxsize=1024)
def _imports(content: bytes, package: str) -> frozenset[str]:
    """Return the modules that import statements anywhere in a text may mean, of packages of others the package."""
    names: list[str] = []
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            names += [f"{base}.{alias.name}" for alias in node.names]  # which may be a module
    return frozenset(ancestor for name in names for ancestor in accumulate(name.split("."), "{}.{}".format))


@functools.lru_cache(maxsize=1024)
def _literals(content: bytes) -> dict[str, Any]:
    """Return the values that a text of a module writes out for its own names."""
    found: dict[str, Any] = {}
    for node in ast.parse(content).body:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if isinstance(target, ast.Name):
                found.pop(target.id, None)
                with suppress(ValueError):
                    found[target.id] = ast.literal_eval(node.value)  # type: ignore[attr-defined]  # an assignment, since it has targets
    return found


def _file(name: str) -> str | None:
    """Return the file of a module, without importing it."""
    spec = _spec(name)
    return spec.origin if spec is not None and spec.origin and os.path.isfile(spec.origin) else None


def _spec(name: str) -> ModuleSpec | None:
    if name in sys.modules:
        return getattr(sys.modules[name], "__spec__", None)
    package = name.rpartition(".")[0]
    if not package:
        return importlib.util.find_spec(name)
    above = _spec(package)
    return above and PathFinder.find_spec(name, above.submodule_search_locations or [])


@functools.cache
def _version(top: str) -> str:
    """Return the version of an installed package; of one without a version, a digest of its file."""
    if top in sys.stdlib_module_names:
        return f"{sys.version_info.major}.{sys.version_info.minor}"
    found = list(importlib.metadata.distributions(name=top))
    if not found:  # sklearn comes with scikit-learn
        found = list(map(importlib.metadata.distribution, importlib.metadata.packages_distributions().get(top, ())))
    path = _file(top)
    # Not from an index, so a version may come twice; what changed in our own code, its revisions say.
    if found and top != __name__.partition(".")[0] and found[0].read_text("direct_url.json"):
        return f"{found[0].version} {hashlib.sha256((found[0].read_text('RECORD') or '').encode()).hexdigest()}"
    return found[0].version if found else "" if path is None else hashlib.sha256(Path(path).read_bytes()).hexdigest()
