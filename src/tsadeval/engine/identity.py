"""Identity of code: what "module:name" names, and the key that tells two states of a metric or detector apart.

A store reuses a value only where its key is the same. The key of code from outside tsadeval is a digest (see
`fingerprint`); that of a metric of the registry is its revision.
"""

from __future__ import annotations

import importlib
import os
import sys
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tsadeval.engine.fingerprints import Unkeyable, Walk
from tsadeval.errors import InvalidParameterError

if TYPE_CHECKING:  # scores can be made where the compiled code of the metrics is not
    from tsadeval.core.metric import Metric

__all__ = ["UNKEYED", "code_mark", "fingerprint", "function_mark", "imported", "version_of"]

UNKEYED = "unkeyed-"


def imported(text: str, kind: str) -> Any:
    """The function or class that "module:name" names; modules are also looked for in the current folder, last."""
    module, _, name = text.partition(":")
    here = os.getcwd()
    if here not in sys.path and "" not in sys.path:
        sys.path.append(here)  # last, so that a stray file cannot replace an installed package
    try:
        found = getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise InvalidParameterError(f"cannot import {module!r} of {kind} {text!r}: {error}") from None
    except AttributeError:
        raise InvalidParameterError(f"{kind} {text!r}: module {module!r} has no {name!r}") from None
    except Exception as error:
        raise InvalidParameterError(
            f"cannot import {module!r} of {kind} {text!r}: it raised {type(error).__name__}: {error}"
        ) from error
    if not callable(found):
        raise InvalidParameterError(f"{kind} {text!r} must be a function or a class, but is {found!r}")
    return found


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
        return Walk().digest(thing).hex()[:16]
    except (Unkeyable, RecursionError):
        return f"{UNKEYED}{uuid.uuid4().hex}"


def version_of(metric: Metric) -> str:
    """The key of a metric's code: the revision of one of ours, the fingerprint of anybody else's."""
    module = getattr(metric.compute, "__module__", None) or ""
    if module.partition(".")[0] == "tsadeval":
        return f"r{metric.revision}"
    return fingerprint(metric.compute)


def function_mark(function: Callable[..., Any]) -> str:
    """The key of a user's metric."""
    return fingerprint(function)


def code_mark(thing: Any) -> str:
    """The key of a user's detector."""
    return fingerprint(thing)
