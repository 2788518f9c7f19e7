"""Decorators that define a metric of tensors from a function of a checked batch, `f(batch, *, options) -> Tensor`.

They give it the public signature `f(preds, target, *, options, lengths, mask, validate)` and its docstring: options and
inputs are checked, series are judged in blocks that fit into memory, and undefined values warned of.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from torch import Tensor

from tsadeval.core import docstrings
from tsadeval.core.parameters import Check, check_parameters, options_of, refuse_unknown
from tsadeval.errors import warn_undefined
from tsadeval.torch._batch import apply, read, read_alarms

_SERIES = {
    "lengths": ("Tensor | Sequence[int] | None", None),
    "mask": ("Tensor | None", None),
    "validate": ("bool", True),
}
# What is the same for every metric stands here, not in each docstring.
_ENTRIES = docstrings.entries("""\
preds : Tensor of shape (points,) or (series, points)
    Finite scores, higher for more anomalous.
target : Tensor of the same shape
    0 (False) for normal and 1 (True) for anomalous points.
threshold : float, Tensor or "best", default="best"
    Scores above it are alarms: one number, or one for each series. "best" takes the threshold of the highest value
    for each series, found exactly. Not used where `preds` are alarms.
lengths : Tensor or sequence of int of shape (series,), optional
    How many points of each row count; the others are padding, whatever they hold.
mask : bool Tensor of the same shape as `preds`, optional
    True for the points that count. Others are left out, and the rest is one series (for CCE: stretches of one).
validate : bool, default=True
    Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
    wrong results.""")
_OR_ALARMS = """\
preds : Tensor of shape (points,) or (series, points)
    Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype."""


def tensor_metric(
    undefined: str,
    checks: dict[str, Check] | None = None,
    *,
    like: Callable[..., Any] | None = None,
    equals: str = "",
    finite: Callable[..., bool] | None = None,
    per_row: Callable[..., int | None] | None = None,
    returns: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Tensor]], Any]:
    """Give a function of a batch its public face; the function itself is its `judge`, and returns float64, series last.

    - `undefined`: where values are NaN; `returns`: what makes the result of several rows of values.
    - `checks`: of the options. With one named `threshold` the batch holds alarms, or scores for the best threshold.
    - `like`: a function, or a dataclass of options, whose options it takes as `**options`; `equals`: the metric of
      arrays whose options these are, by default that of the same name.
    - `finite`, of the options: False where a score that is not finite is known by its value, which is then NaN.
    - `per_row`, of the batch and the options: how many numbers a series needs, if more than points; None: no more.
    """

    def decorate(judge: Callable[..., Tensor]) -> Any:
        name, known = judge.__name__, options_of(like or judge)

        @wraps(judge)
        def metric(
            preds: Tensor,
            target: Tensor,
            *,
            lengths: Tensor | Sequence[int] | None = None,
            mask: Tensor | None = None,
            validate: bool = True,
            **options: Any,
        ) -> Any:
            refuse_unknown(f"{name}()", [*known, *_SERIES], options, error=TypeError)
            check_parameters(name, checks or {}, options)
            given = {option: parameter.default for option, parameter in known.items()} | options
            series = preds, target, lengths, mask
            if "threshold" in given:
                batch = read_alarms(*series, threshold=given["threshold"], validate=validate)
            else:
                batch = read(*series, validate=validate, finite=finite is None or finite(**given))
            need = per_row(batch, **given) if per_row else 1
            values = apply(batch, lambda block: judge(block, **given), per_row=need)
            if validate and bool(values.isnan().any()):
                read(*series)  # names a score that is not finite
                warn_undefined(name, undefined)
            values = values.to(batch.dtype)
            values = values[..., 0] if batch.single else values
            return returns(*values) if returns else values

        face: Any = metric
        kind = inspect.Parameter
        tensors = [kind(tensor, kind.POSITIONAL_OR_KEYWORD, annotation="Tensor") for tensor in ("preds", "target")]
        series = [kind(n, kind.KEYWORD_ONLY, default=d, annotation=a) for n, (a, d) in _SERIES.items()]
        result = getattr(returns, "__name__", "Tensor")
        face.__signature__ = inspect.Signature([*tensors, *known.values(), *series], return_annotation=result)
        face.__doc__ = _documented(inspect.cleandoc(judge.__doc__ or ""), list(known), equals or name, undefined)
        face.judge, face.checks = judge, checks or {}
        return face

    return decorate


def _documented(doc: str, options: list[str], equals: str, undefined: str) -> str:
    own = docstrings.entries(docstrings.sections(doc).get("Parameters", ""))
    found = {**_ENTRIES, "beta": docstrings.BETA, **own}
    others = ", ".join(option for option in options if option not in found)
    parts = [
        _OR_ALARMS if "threshold" in options else found["preds"],
        found["target"],
        *(found[option] for option in options if option in found),
        *([f"{others}\n    As for `tsadeval.metrics.{equals}`."] if others else []),
        *(found[name] for name in _SERIES),
    ]
    returns = docstrings.described(
        "Tensor of shape () or (series,)",
        "On the device of `preds`; float32 for scores in float32 or less, else float64. NaN, with an "
        f"`UndefinedMetricWarning`, where {undefined}.",
    )
    return docstrings.filled(doc, parts, returns)
