"""Decorators that define a metric of tensors from a function of a checked batch, `f(batch, *, options) -> Tensor`.

They give it the public signature `f(preds, target, *, options, lengths, mask, validate)` and its docstring: options and
inputs are checked, series are judged in blocks that fit into memory, and undefined values warned of.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from torch import Tensor

from tsadeval.core import docstrings
from tsadeval.core.parameters import Check, check_parameters, options_of, refuse_unknown
from tsadeval.errors import warn_undefined
from tsadeval.torch._batch import Batch, apply, read, read_alarms

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
    Scores above it are alarms: one number, or one for each series. "best" takes the threshold of the highest value for
    each series, found exactly. Not used where `preds` are alarms.
lengths : Tensor or sequence of int of shape (series,), optional
    How many points of each row count; the others are padding, whatever they hold.
mask : bool Tensor of the same shape as `preds`, optional
    True for the points that count. Others are left out, and the rest is one series.
validate : bool, default=True
    Check values and warn of undefined results. This makes a GPU wait for its answer; without it, wrong values give
    wrong results.""")
_OR_ALARMS = """\
preds : Tensor of shape (points,) or (series, points)
    Scores of a floating dtype; or alarms, 0 or 1, of an integer or bool dtype."""


@dataclass(frozen=True, eq=False)
class Call:
    """What a metric was called with."""

    name: str
    preds: Tensor
    target: Tensor
    lengths: Tensor | Sequence[int] | None
    mask: Tensor | None
    validate: bool

    @property
    def series(self) -> tuple[Any, ...]:
        """The arguments that say which points are judged."""
        return self.preds, self.target, self.lengths, self.mask

    def finish(self, batch: Batch, values: Tensor, undefined: str) -> Tensor:
        """Values in the dtype of the scores, without the batch dimension where there was none; warns of NaN."""
        if self.validate and bool(values.isnan().any()):
            warn_undefined(self.name, undefined)
        values = values.to(batch.dtype)
        return values[..., 0] if batch.single else values


def tensor_function(
    checks: dict[str, Check], undefined: str, *, like: Callable[..., Any] | None = None, equals: str = ""
) -> Callable[[Callable[..., Any]], Any]:
    """Give a function of a `Call` its public face; `like` is as for the metrics of arrays.

    `equals` names the metric of arrays whose options these are, by default that of the same name.
    """

    def decorate(inner: Callable[..., Any]) -> Any:
        name = inner.__name__
        known = options_of(like or inner)

        @wraps(inner)
        def metric(
            preds: Tensor,
            target: Tensor,
            *,
            lengths: Tensor | Sequence[int] | None = None,
            mask: Tensor | None = None,
            validate: bool = True,
            **options: Any,
        ) -> Any:
            refuse_unknown(name, [*known, *_SERIES], options)
            check_parameters(name, checks, options)
            given = {option: parameter.default for option, parameter in known.items()} | options
            return inner(Call(name, preds, target, lengths, mask, validate), **given)

        face: Any = metric
        kind = inspect.Parameter
        tensors = [kind(tensor, kind.POSITIONAL_OR_KEYWORD, annotation="Tensor") for tensor in ("preds", "target")]
        series = [kind(n, kind.KEYWORD_ONLY, default=d, annotation=a) for n, (a, d) in _SERIES.items()]
        face.__signature__ = inspect.signature(inner).replace(parameters=[*tensors, *known.values(), *series])
        face.__doc__ = _documented(inspect.cleandoc(inner.__doc__ or ""), list(known), equals or name, undefined)
        face.checks = checks
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


def tensor_metric(
    undefined: str,
    checks: dict[str, Check] | None = None,
    *,
    like: Callable[..., Any] | None = None,
    equals: str = "",
    per_row: Callable[..., int] | None = None,
    returns: Callable[..., Any] | None = None,
) -> Callable[[Callable[..., Tensor]], Any]:
    """Give a function of a batch its public face.

    One with an option `threshold` gets alarms, or scores where the best threshold is to be found. It returns float64,
    series last. A series needs as many numbers as `per_row` says of the number of points and the options, if more than
    points; `returns` makes the result of several rows of values.
    """

    def decorate(judge: Callable[..., Tensor]) -> Any:
        @wraps(judge)
        def inner(call: Call, **options: Any) -> Any:
            if "threshold" in options:
                batch = read_alarms(*call.series, threshold=options["threshold"], validate=call.validate)
            else:
                batch = read(*call.series, validate=call.validate)
            need = per_row(batch.scores.shape[1], **options) if per_row else 1
            values = call.finish(batch, apply(batch, lambda block: judge(block, **options), per_row=need), undefined)
            return returns(*values) if returns else values

        face = tensor_function(checks or {}, undefined, like=like or judge, equals=equals)(inner)
        face.judge = judge
        return face

    return decorate
