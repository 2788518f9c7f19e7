"""Identity of code: the key that tells two states of a user's metric or detector apart.

A store reuses a value only where its key is the same. The key of code from outside tsadeval is a digest (see
`fingerprint`); that of a metric of the library is its version.
"""

from __future__ import annotations

import uuid
from typing import Any

from tsadeval.engine.fingerprints import Digester, Unkeyable

__all__ = ["UNKEYED", "fingerprint"]

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
