"""The one parser of the texts that name things: `name(option=value)`, `a,b(c, d)` and `module:name`.

Metrics, threshold rules, detectors and data sets are all written this way, in Python, on the command line and in
stores.
"""

from __future__ import annotations

import ast
import importlib
import os
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

from tsadeval.core.registry import did_you_mean
from tsadeval.errors import InvalidParameterError

_OPEN, _CLOSE = "([{", ")]}"


class Call(NamedTuple):
    """What `name(0.95, option=value)` says."""

    name: str
    positional: list[Any]
    options: dict[str, Any]


def parse_call(text: str) -> Call:
    """Read `name`, `name(0.95)` or `name(window=100, kind=flat)`; bare words are strings, in lists and tuples too.

    The name is all that stands before the first bracket, so it may be "ucr/125", "module:Class" or "VUS-PR".

    >>> parse_call("quantile(0.95)")
    Call(name='quantile', positional=[0.95], options={})
    >>> parse_call("cce(uncertainty=pointwise, gamma=5)")
    Call(name='cce', positional=[], options={'uncertainty': 'pointwise', 'gamma': 5})
    >>> parse_call("ucr/125(end=exclusive)").options
    {'end': 'exclusive'}
    """
    problem = InvalidParameterError(f"cannot read {text!r}: write a name, or name(option=value, ...)")
    name, bracket, rest = text.strip().partition("(")
    if not name.strip():
        raise problem
    if not bracket:
        return Call(name, [], {})
    try:
        node = ast.parse(f"f({rest}", mode="eval").body
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise problem
        positional = [_literal(value) for value in node.args]
        options: dict[str, Any] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise problem
            if keyword.arg in options:
                raise InvalidParameterError(f"cannot read {text!r}: option {keyword.arg!r} is given twice")
            options[keyword.arg] = _literal(keyword.value)
    except InvalidParameterError:
        raise
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise problem from None
    return Call(name.strip(), positional, options)


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [_literal(element) for element in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    return ast.literal_eval(node)


def format_call(name: str, options: Iterable[tuple[str, Any]]) -> str:
    """The text that `parse_call` reads back.

    >>> format_call("cce", [("tau", 0.4)])
    'cce(tau=0.4)'
    """
    inside = ", ".join(f"{key}={value!r}" for key, value in options)
    return f"{name}({inside})" if inside else name


def split_names(texts: str | Iterable[str]) -> list[str]:
    """Split texts at their commas, except at those inside brackets or quotes.

    >>> split_names(["cce,cce(tau=0.4, quantiles=(0.01, 0.99))", "f1"])
    ['cce', 'cce(tau=0.4, quantiles=(0.01, 0.99))', 'f1']
    """
    names = []
    for text in [texts] if isinstance(texts, str) else texts:
        depth, quote, begin = 0, "", 0
        for i, letter in enumerate(text):
            if quote:
                quote = "" if letter == quote else quote
            elif letter in "'\"" and depth:
                quote = letter
            elif letter in _OPEN:
                depth += 1
            elif letter in _CLOSE:
                depth -= 1
            elif letter == "," and depth == 0:
                names.append(text[begin:i].strip())
                begin = i + 1
        names.append(text[begin:].strip())
    return [name for name in names if name]


def import_object(text: str, kind: str) -> Any:
    """The function or class that "module:name" names; a module in the current folder is found too."""
    module, _, name = text.partition(":")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that a stray file cannot take the place of an installed package
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        raise InvalidParameterError(f"cannot import {module!r} of {kind} {text!r}: {error}") from None
    except Exception as error:
        raise InvalidParameterError(
            f"cannot import {module!r} of {kind} {text!r}: it raised {type(error).__name__}: {error}"
        ) from error
    try:
        found = getattr(imported, name)
    except AttributeError:
        own = [n for n, thing in vars(imported).items() if callable(thing) and not n.startswith("_")]
        hint = f": {did_you_mean(name, own)}" if own else ""
        raise InvalidParameterError(f"{kind} {text!r}: module {module!r} has no {name!r}{hint}") from None
    if not callable(found):
        raise InvalidParameterError(f"{kind} {text!r} must be a function or a class, but is {found!r}")
    return found


def is_number(text: str) -> bool:
    """Can Python read it as a number?"""
    try:
        float(text)
    except ValueError:
        return False
    return True
