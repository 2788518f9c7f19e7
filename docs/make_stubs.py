"""Write src/tsadeval/metrics/__init__.pyi from the registry, so that type checkers and editors know every metric.

    python docs/make_stubs.py               # or: make generated

At run time the names of `tsadeval.metrics` are found by `__getattr__`, which a type checker cannot follow. The stub
has the same names with their options, defaults and docstrings. A test fails when it is older than the registry.
"""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tsadeval.metrics
from tsadeval.core.metric import METRICS
from tsadeval.core.parameters import Check, Flag, Number, OneOf, Pair

STUB = Path(tsadeval.metrics.__file__).with_suffix(".pyi")

HEAD = '''"""Every metric as a plain function: `tsadeval.metrics.cce(y_true, y_score)`.

Written by `make generated` from the registry: do not edit.
"""

from typing import Literal

from numpy.typing import ArrayLike

from tsadeval.core.metric import PRF
{classes}
'''


def option_type(check: Check) -> str:
    """The type of the values that a check accepts."""
    match check:
        case Flag():
            return "bool"
        case Pair():
            return "tuple[float, float]"
        case OneOf(choices):
            words = ", ".join(literal(choice) for choice in choices if choice is not None)
            return f"Literal[{words}]" + (" | None" if None in choices else "")
        case Number(integer=integer, none=none, words=words):
            named = [f"Literal[{', '.join(map(literal, words))}]"] if words else []
            return " | ".join(["int" if integer else "float", *named, *["None"] * none])
    raise TypeError(f"no type is known for {check!r}: add its kind to docs/make_stubs.py")


def literal(value: Any) -> str:
    """As `repr`, with the quotes that the formatter wants."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def function_stub(name: str, function: Callable[..., Any]) -> str:
    """Signature and docstring of a public function."""
    signature = inspect.signature(function)
    checks = METRICS[name].checks if name in METRICS else getattr(function, "checks", {})
    options = [
        f"    {option}: {option_type(checks[option]) if option in checks else parameter.annotation} = "
        f"{literal(parameter.default)},\n"
        for option, parameter in signature.parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    arrays = [f"{array}: ArrayLike" for array in list(signature.parameters)[:2]]
    if options:  # the layout of the formatter
        arguments = "\n" + "".join(f"    {array},\n" for array in arrays) + "    *,\n" + "".join(options)
    else:
        arguments = ", ".join(arrays)
    return f"def {name}({arguments}) -> {signature.return_annotation}:\n{docstring(function)}"


def docstring(function: Callable[..., Any]) -> str:
    text = inspect.getdoc(function) or ""
    lines = "\n".join(f"    {line}".rstrip() for line in text.splitlines()).strip()
    end = "\n    " if "\n" in lines else ""
    return f'    {"r" if chr(92) in text else ""}"""{lines}{end}"""\n'


def stub() -> str:
    public = {name: getattr(tsadeval.metrics, name) for name in dir(tsadeval.metrics)}
    # Classes, and functions that are not of labels and scores, are known to a type checker where they are defined.
    plain = {name for name, f in public.items() if name not in METRICS and not hasattr(f, "checks")}
    classes = [f"from {public[name].__module__} import {name} as {name}\n" for name in plain]
    functions = [function_stub(name, f) for name, f in public.items() if name not in plain]
    return HEAD.format(classes="".join(sorted(classes))) + "\n".join(functions)


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    print(f"wrote {STUB}")
