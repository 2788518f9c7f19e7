"""Write the stubs of `tsadeval.metrics` and `tsadeval.torch`, so that type checkers and editors know every metric.

    python docs/make_stubs.py               # or: make generated

At run time the names of both are found by `__getattr__`, which a type checker cannot follow. A stub has the same names
with their options, defaults and docstrings. A test fails when it is older than the code. That of `tsadeval.torch` is
written where torch and torchmetrics are installed.
"""

import inspect
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import tsadeval.metrics
import tsadeval.torch
from tsadeval.core.metric import METRICS
from tsadeval.core.parameters import Check, Flag, Number, OneOf, Pair

STUB = Path(tsadeval.metrics.__file__).with_suffix(".pyi")
TORCH_STUB = Path(tsadeval.torch.__file__).with_suffix(".pyi")

HEAD = '''"""Every metric as a plain function: `tsadeval.metrics.cce(y_true, y_score)`.

Written by `make generated` from the registry: do not edit.
"""

from typing import Literal

from numpy.typing import ArrayLike

from tsadeval.core.metric import PRF
{classes}
'''

TORCH_HEAD = '''"""Metrics of batches of series on a GPU or CPU, losses to train with, and torchmetrics classes.

Written by `make generated` from the functions: do not edit.
"""

from collections.abc import Sequence
from typing import Literal

from torch import Tensor

from tsadeval.torch._affiliation import PrecisionRecallF
from tsadeval.torch._batch import Threshold
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
    checks = function.checks
    options = [
        f"    {option}: {option_type(checks[option]) if option in checks else parameter.annotation} = "
        f"{literal(parameter.default)},\n"
        for option, parameter in signature.parameters.items()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    kinds = [f"{array}: {kind(parameter.annotation)}" for array, parameter in list(signature.parameters.items())[:2]]
    if options:  # the layout of the formatter
        arguments = "\n" + "".join(f"    {array},\n" for array in kinds) + "    *,\n" + "".join(options)
    else:
        arguments = ", ".join(kinds)
    returns = signature.return_annotation
    return f"def {name}({arguments}) -> {getattr(returns, '__name__', returns)}:\n{docstring(function)}"


def kind(annotation: Any) -> str:
    """The type of labels, scores or alarms: arrays have no annotation."""
    return "ArrayLike" if annotation is inspect.Parameter.empty else str(annotation)


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


def torch_stub() -> str:
    """The stub of `tsadeval.torch`, which needs torch and torchmetrics."""
    public = {name: getattr(tsadeval.torch, name) for name in dir(tsadeval.torch)}
    plain = [name for name, f in public.items() if not hasattr(f, "checks")]
    plain.sort(key=lambda name: (public[name].__module__, not name.isupper(), name))  # as the linter wants imports
    classes = [f"from {public[name].__module__} import {name} as {name}\n" for name in plain]
    functions = [function_stub(name, f) for name, f in public.items() if name not in plain]
    return TORCH_HEAD.format(classes="".join(classes)) + "\n".join(functions)


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
    print(f"wrote {STUB}")
    if find_spec("torch") and find_spec("torchmetrics"):
        TORCH_STUB.write_text(torch_stub(), encoding="utf-8")
        print(f"wrote {TORCH_STUB}")
