"""Import of optional dependencies, with one error message that says what to install; names that are loaded late."""

import importlib
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from tsadeval.errors import MissingExtraError


def require(module: str, *, extra: str) -> ModuleType:
    """Import an optional module, or say which extra brings it.

    >>> require("math", extra="all").sqrt(4.0)
    2.0
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A missing module inside an installed package is that package's fault, not a missing extra.
        if error.name != module.partition(".")[0]:
            raise
        raise MissingExtraError(
            f"this needs {error.name}, which is not installed: pip install 'tsadeval[{extra}]'"
        ) from None


def load_late(package: str, homes: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package whose names are imported when first used, each from its home.

    Those without a home are modules of the package.
    """

    def load(name: str) -> Any:
        if name not in homes:
            from tsadeval.core.names import did_you_mean

            hint = "" if name.startswith("__") else f": {did_you_mean(name, sys.modules[package].__all__)}"
            raise AttributeError(f"{package} has no {name!r}{hint}")
        home = importlib.import_module(homes[name] or f"{package}.{name}")
        value = getattr(home, name) if homes[name] else home
        setattr(sys.modules[package], name, value)
        return value

    return load
