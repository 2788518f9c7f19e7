"""Parser of names with options (`name(option=value)`), registry of records by name, and printable names.

Metrics, threshold rules, detectors and data sets are all written this way, in Python, on the command line and in
stores.
"""

import ast
import importlib
import os
import pkgutil
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from threading import RLock
from types import ModuleType
from typing import Any, Generic, NamedTuple, TypeVar

from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError

T = TypeVar("T")

# A text in quotes, which hides what it holds, or any other character; a quote elsewhere is an apostrophe.
_PIECES = re.compile(r"""(?<=[\[({,=: ])(?:'[^']*'|"[^"]*")|.""", re.DOTALL)


def refuse_alike(values: Iterable[Any], what: str) -> None:
    """Refuse values that differ but have the same text, where their texts are names."""
    known: dict[str, Any] = {}
    for value in values:
        other = known.setdefault(str(value), value)
        if other is not value and other != value:
            raise InvalidInputError(
                f"{what}: {printable(repr(other))} and {printable(repr(value))} are the same as text, and so as names: "
                "rename one, or make them one type"
            )


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
        options = [(str(keyword.arg or ""), _literal(keyword.value)) for keyword in node.keywords]
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        raise problem from None
    names = [option for option, _ in options]
    if "" in names:  # of **options
        raise problem
    if twice := [option for option in names if names.count(option) > 1]:
        raise InvalidParameterError(f"cannot read {text!r}: option {twice[0]!r} is given twice")
    return Call(name.strip(), positional, dict(options))


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, (ast.List, ast.Tuple)):
        values = [_literal(element) for element in node.elts]
        return values if isinstance(node, ast.List) else tuple(values)
    return ast.literal_eval(node)


def format_call(name: str, options: Iterable[tuple[str, Any]]) -> str:
    """Return the text that `parse_call` reads back."""
    inside = ", ".join(f"{key}={value!r}" for key, value in options)
    return f"{name}({inside})" if inside else name


def split_names(texts: str | Iterable[str]) -> list[str]:
    """Split texts at their commas, except at those inside brackets or quotes.

    >>> split_names(["cce,cce(tau=0.4, quantiles=(0.01, 0.99))", "f1"])
    ['cce', 'cce(tau=0.4, quantiles=(0.01, 0.99))', 'f1']
    """
    names = []
    for text in [texts] if isinstance(texts, str) else texts:
        names.append("")
        depth = 0
        for piece in _PIECES.findall(text):
            depth += (piece in "([{") - (piece in ")]}")
            if piece == "," and depth == 0:
                names.append("")
            else:
                names[-1] += piece
    return [name.strip() for name in names if name.strip()]


def import_object(text: str, kind: str, methods: Collection[str] = ()) -> Any:
    """Import the function or class that "module:name" names; a module in the current folder is found too.

    With `methods` it must be a class that has one of them: whatever else a text names is not called.
    """
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
    if methods and not (isinstance(found, type) and any(hasattr(found, method) for method in methods)):
        raise InvalidParameterError(
            f"{kind} {text!r} must be a class with a method {' or '.join(methods)}, but is {found!r}"
        )
    return found


def names_code(text: str) -> bool:
    """Return True if a text names code of a user's own: "module:name", alone or inside of another name's brackets."""
    return ":" in text


def is_number(text: str) -> bool:
    """Return True if Python can read the text as a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def did_you_mean(name: str, known: list[str], most: int | None = None) -> str:
    """Return the end of an error message: the nearest known names, or where none is near all (or `most`) of them."""
    some = known if most is None else known[:1000]
    near = get_close_matches(name, some, n=3, cutoff=0.6 if len(name) > 2 else 0.5)  # one letter of two
    if near:
        return f"did you mean {' or '.join(map(printable, near))}?"
    more = f", ... ({len(known)} in all)" if len(known) > len(known[:most]) else ""
    return f"valid names: {', '.join(map(printable, known[:most]))}{more}" if known else "there are none"


def check_known(name: str, known: Iterable[str], kind: str, where: str) -> None:
    """Raise an error that says what is near, unless a name is among those that are known."""
    names = list(known)
    if name not in names:
        raise UnknownNameError(f"no {kind} {name!r} in {where}: {did_you_mean(name, names)}")


class Registry(Mapping[str, T], Generic[T]):
    """Records by name: `records`, which know theirs, and those that are added.

    The modules of `package` add theirs when the registry is first read.

    >>> numbers = Registry("number")
    >>> _ = numbers.add("three", 3)
    >>> numbers["three"]
    3
    >>> numbers["thre"]
    Traceback (most recent call last):
        ...
    tsadeval.errors.UnknownNameError: unknown number 'thre': did you mean three?
    """

    def __init__(self, kind: str, package: str = "", *, records: Iterable[Any] = ()) -> None:
        self.kind = kind
        self._records: dict[str, T] = {}
        self._package = package
        self._lock = RLock()
        for record in records:
            self.add(record.name, record)

    def add(self, name: str, record: T) -> T:
        """Register a record under a name that is not taken yet."""
        if name in self._records:
            raise ValueError(f"there is already a {self.kind} named {name!r}")
        self._records[name] = record
        return record

    def _all(self) -> dict[str, T]:
        if self._package:
            with self._lock:  # a second thread waits for a whole registry instead of seeing half of it
                if self._package:
                    import_modules(self._package)
                    # Whatever was imported first: the order is the same in every process.
                    self._records = dict(sorted(self._records.items()))
                    self._package = ""
        return self._records

    def __getitem__(self, name: str) -> T:
        records = self._all()
        if name not in records:
            raise UnknownNameError(f"unknown {self.kind} {name!r}: {did_you_mean(str(name), list(records))}")
        return records[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all()  # the default asks `__getitem__`, whose error looks for similar names

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _repr_html_(self) -> str:
        """Names and summaries, for notebooks."""
        from tsadeval.core.results import html_table

        return html_table(
            [[self.kind, "summary"], *([name, getattr(one, "summary", "")] for name, one in self.items())]
        )

    def __repr__(self) -> str:
        return f"<{len(self)} {self.kind}s: {', '.join(self)}>"


def load_late(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when first used, each from its home.

    Those without a home are modules of the package.
    """

    def load(name: str) -> Any:
        if name not in homes:
            hint = "" if name.startswith("__") else f": {did_you_mean(name, sys.modules[package].__all__)}"
            raise AttributeError(f"{package} has no {name!r}{hint}")
        home = importlib.import_module(homes[name] or f"{package}.{name}")
        value = getattr(home, name) if homes[name] else home
        setattr(sys.modules[package], name, value)
        return value

    return load


def import_modules(package: str) -> list[ModuleType]:
    """Import all modules (not sub-packages) of a package, in the order of their names."""
    path = importlib.import_module(package).__path__
    return [importlib.import_module(f"{package}.{m.name}") for m in pkgutil.iter_modules(path) if not m.ispkg]


_LONGEST = 200


def printable(text: Any) -> str:
    r"""Escape every character that a terminal could act on, and cut the text where it is long.

    File and column names come from strangers: escape codes could recolour or overwrite the terminal, line breaks
    could imitate a second message, and bytes that are no text cannot be printed at all.

    >>> print(printable("a\x1b[31m\nb\u202e"))
    a\x1b[31m\nb\u202e
    >>> printable("Größe 1"), len(printable("x" * 10_000))
    ('Größe 1', 203)
    """
    shown = str(text)
    return escaped(f"{shown[:_LONGEST]}..." if len(shown) > _LONGEST else shown)


def quoted(value: Any) -> str:
    """Return how Python writes a value, made printable in the same way."""
    try:
        return printable(repr(value))
    except ValueError:  # longer than Python turns into text
        return "an integer of too many digits"


# What spreadsheets take for a formula, and how to make it text. Numbers are no text, and stay as they are.
FORMULA, TEXT = r"^([=+\-@\t\r])", r"'\1"


def escaped(text: str) -> str:
    """Escape the same in full."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
