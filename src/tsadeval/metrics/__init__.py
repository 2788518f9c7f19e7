"""Every metric as a plain function: `tsadeval.metrics.cce(y_true, y_score)`.

Each file `_family.py` beside this one holds a family and registers its records when imported. The names here
come from those files: adding a metric edits nothing in this one.
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any


def load_families() -> None:
    """Import every family file, which fills the registry."""
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            importlib.import_module(f"{__name__}.{module.name}")


def _names() -> dict[str, Any]:
    """Public functions of all families, by name."""
    load_families()
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            family = importlib.import_module(f"{__name__}.{module.name}")
            found |= {name: getattr(family, name) for name in family.__all__}
    return found


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    names = _names()
    if name not in names:
        from tsadeval.core.registry import did_you_mean

        raise AttributeError(f"tsadeval.metrics has no {name!r}: {did_you_mean(name, sorted(names))}")
    globals().update(names)
    return names[name]


def __dir__() -> list[str]:
    return sorted(_names())
