"""What a threshold is found on: one series, or several put one after the other, with one detector."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tsadeval.core.inputs import Scoring
from tsadeval.core.names import did_you_mean
from tsadeval.core.times import Times
from tsadeval.errors import InvalidInputError, UnknownNameError
from tsadeval.scores.options import Reading
from tsadeval.scores.scored import Scored
from tsadeval.scores.scores import Scores, as_scores
from tsadeval.scores.scoring import observe


def read_scorings(y_true: Any, y_score: Any, times: Any, reading: Reading) -> list[Scoring]:
    """Read labels and scores of a series, mappings of those of several, or (without `y_score`) what te.Scores takes."""
    if times is not None:
        reading = {**reading, "time": times}
    scores = as_scores(y_true, **reading) if y_score is None else _of_arrays(y_true, y_score, reading)
    return [one.scoring for one in of_one_detector(scores)]


def of_one_detector(scores: Scores) -> list[Scored]:
    """Read all scorings, which must be those of one detector; warn of what is left out."""
    found = [one for one in scores.read() if isinstance(one, Scored)]
    if len(scores.detectors) > 1:
        raise InvalidInputError(
            f"there are several detectors ({', '.join(scores.detectors)}): select one, as in "
            f"scores.select(detectors=[{scores.detectors[0]!r}])"
        )
    scores.warn()
    return found


def _of_arrays(y_true: Any, y_score: Any, reading: Reading) -> Scores:
    """Take labels and scores of a series, or mappings from the names of series, which must be the same."""
    names = list(map(str, y_score)) if isinstance(y_true, Mapping) and isinstance(y_score, Mapping) else []
    for name in map(str, y_true if names else ()):
        if name not in names:
            raise UnknownNameError(f"y_score has no series {name!r}: {did_you_mean(name, names)}")
    options: Reading = {"strict": True, **reading}
    return as_scores(y_score, y_true, **options)


def join(scorings: list[Scoring]) -> Scoring:
    """Put the series one after the other, with a point between them that is not judged, so that no run crosses it."""
    if len(scorings) == 1:
        return scorings[0]
    if len({one.setting.times is None for one in scorings}) > 1:
        raise InvalidInputError("times must be given for all series, or for none")
    between = [1] * (len(scorings) - 1) + [0]

    def whole(parts: list[Any], fill: Any) -> Any:
        longer = (np.append(part, [fill] * n) for part, n in zip(parts, between, strict=True))
        return np.concatenate(list(longer)).astype(np.result_type(*parts))

    ignored = [np.zeros(one.n, np.bool_) if one.setting.ignored is None else one.setting.ignored for one in scorings]
    # NaN where there is no score: what is below all others in one series need not be so in another.
    unknown = [one.setting.unknown for one in scorings]
    scores = [one.raw if k is None else np.where(k, np.nan, one.raw) for one, k in zip(scorings, unknown, strict=True)]
    return observe(
        whole([one.truth.mask for one in scorings], False),
        whole(scores, 0),
        times=None if scorings[0].setting.times is None else _one_clock([one.setting.clock for one in scorings]),
        ignore=whole(ignored, True),
        missing="no alarm",
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
