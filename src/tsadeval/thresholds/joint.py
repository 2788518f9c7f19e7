"""Several series as one, for a threshold that all of them share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.observed import observe
from tsadeval.core.registry import did_you_mean
from tsadeval.core.setting import is_spans
from tsadeval.core.time import Times
from tsadeval.errors import InvalidInputError, UnknownNameError

__all__ = ["joined", "observe_several"]


def observe_several(y_true: Mapping[Any, Any], y_score: Any, *, times: Any, ignore: Any, missing: Any) -> list[Scoring]:
    """A checked scoring for every series; arguments are mappings with the same names."""
    if not y_true:
        raise InvalidInputError("y_true has no series")
    if not isinstance(y_score, Mapping):
        raise InvalidInputError("y_true has several series, so y_score must be a mapping from their names as well")
    shared = not isinstance(ignore, Mapping) and (ignore is None or is_spans(ignore))
    found = []
    for name, labels in y_true.items():
        try:
            found.append(
                observe(
                    labels,
                    _of(y_score, name, "y_score"),
                    times=None if times is None else _of(times, name, "times"),
                    ignore=ignore if shared else _of(ignore, name, "ignore", optional=True),
                    missing=missing,
                )
            )
        except InvalidInputError as error:
            raise InvalidInputError(f"series {name!r}: {error}") from None
    return found


def _of(given: Any, name: Any, what: str, *, optional: bool = False) -> Any:
    if not isinstance(given, Mapping):
        raise InvalidInputError(f"y_true has several series, so {what} must be a mapping from their names as well")
    if name not in given and not optional:
        hint = did_you_mean(str(name), list(map(str, given)))
        raise UnknownNameError(f"{what} has no series {name!r}: {hint}")
    return given.get(name)


def joined(scorings: list[Scoring]) -> Scoring:
    """The series one after the other, with a point between them that is not judged, so that no run crosses it."""
    if len({one.setting.times is None for one in scorings}) > 1:
        raise InvalidInputError("times must be given for all series, or for none")
    between = [1] * (len(scorings) - 1) + [0]

    def whole(parts: list[Any], fill: Any) -> Any:
        longer = (np.append(part, [fill] * n) for part, n in zip(parts, between, strict=True))
        return np.concatenate(list(longer)).astype(np.result_type(*parts))

    ignored = [np.zeros(one.n, np.bool_) if one.setting.ignored is None else one.setting.ignored for one in scorings]
    return observe(
        whole([one.truth.mask for one in scorings], False),
        whole([one.raw for one in scorings], 0),
        times=None if scorings[0].setting.times is None else _one_clock([one.setting.clock for one in scorings]),
        ignore=whole(ignored, True),
    )


def _one_clock(clocks: list[Times]) -> Times:
    """Stamps that go on from series to series, with one for the point between two of them."""
    stamps, end = [], 0
    for k, clock in enumerate(clocks):
        own = clock.stamps - clock.stamps[0] + end
        end = int(own[-1]) + 2 * clock.step
        stamps.append(own if k == len(clocks) - 1 else np.append(own, end - clock.step))
    whole = np.concatenate(stamps)
    return Times(whole, "numbers", whole, 1)
