"""Anybody's functions and classes: found by "module:name", and marked by their code."""

from __future__ import annotations

import hashlib
import importlib
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from tsadeval.errors import InvalidParameterError

__all__ = ["code_mark", "function_mark", "imported"]


def imported(text: str, kind: str) -> Any:
    """What "module:name" names: a function or class."""
    module, _, name = text.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise InvalidParameterError(f"cannot import {module!r} of {kind} {text!r}: {error}") from None
    except AttributeError:
        raise InvalidParameterError(f"{kind} {text!r}: module {module!r} has no {name!r}") from None
    if not callable(found):
        raise InvalidParameterError(f"{kind} {text!r} must be a function or a class, but is {found!r}")
    return found


def function_mark(function: Callable[..., Any]) -> str:
    """A mark of a function's own code, so that a store does not mistake an edited metric for the old one.

    It does not see what the function calls; whoever edits a helper takes a new name or a new store.
    """
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    if code is None:
        return ""
    cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    known = [
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).values(),
        *cells,
    ]
    text = repr((_code(code), [_constant(value) for value in known]))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _code(code: types.CodeType) -> tuple[Any, ...]:
    return code.co_code.hex(), code.co_names, tuple(_constant(value) for value in code.co_consts)


def _constant(value: Any) -> str:
    """A text that is the same in every process, so no addresses and no order of hashes."""
    if isinstance(value, types.CodeType):
        return repr(_code(value))
    if isinstance(value, types.FunctionType):
        return repr(_code(value.__code__))
    if isinstance(value, (tuple, list)):
        return repr([_constant(v) for v in value])
    if isinstance(value, (set, frozenset)):
        return repr(sorted(_constant(v) for v in value))
    if isinstance(value, dict):
        return repr(sorted((_constant(k), _constant(v)) for k, v in value.items()))
    if isinstance(value, np.ndarray) and value.dtype != object:
        return repr((value.shape, str(value.dtype), hashlib.sha256(np.ascontiguousarray(value).data).hexdigest()))
    if isinstance(value, type):
        return value.__qualname__
    if isinstance(value, np.generic):
        return repr(value.item())
    if hasattr(value, "get_params"):  # an estimator within: scikit-learn's repr has its options
        return " ".join(repr(value).split())
    return repr(value) if isinstance(value, (int, float, complex, str, bytes, type(None))) else type(value).__name__


def code_mark(thing: Any) -> str:
    """The same of an object: the code of its class, of the bases beside it, and what it was made with."""
    made = type(thing)
    classes = [c for c in reversed(made.__mro__) if c.__module__ == made.__module__]
    functions = {name: f for c in classes for name, f in vars(c).items() if isinstance(f, types.FunctionType)}
    code = {name: _code(f.__code__) for name, f in sorted(functions.items())}
    state = {name: _constant(value) for name, value in sorted(getattr(thing, "__dict__", {}).items())}
    return hashlib.sha256(repr((code, state)).encode()).hexdigest()[:12]
