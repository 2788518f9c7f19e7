"""Every metric as a plain function: `tsadeval.metrics.cce(y_true, y_score)`.

Each file `_family.py` beside this one holds a family and registers its records when imported. The names here
come from those files: adding a metric edits nothing in this one.
"""

from typing import Any

from tsadeval.core.names import did_you_mean, import_modules


def _names() -> dict[str, Any]:
    """Return the public names of all families: what the decorators made, and what else a family has in `__all__`."""
    return {
        name: thing
        for family in import_modules(__name__)
        for name, thing in vars(family).items()
        if hasattr(thing, "checks") or name in getattr(family, "__all__", ())
    }


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    names = _names()
    if name not in names:
        raise AttributeError(f"tsadeval.metrics has no {name!r}: {did_you_mean(name, sorted(names))}")
    globals().update(names)
    return names[name]


def __dir__() -> list[str]:
    return sorted(_names())
