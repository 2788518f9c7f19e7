"""Control tasks of the suite `hard`: cases to which a metric should give equal values, and their quality: 1 - change.

A control has a case `reference`, cases that should get the same value, and `random` and `perfect` scores for the same
labels, which say how large a difference is:

    1 - min(1, mean |value - value of the reference| / skill),   skill = |reference - random|,

the skill being at least 5 % of the way from random to perfect.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial, wraps
from typing import Any

import numpy as np

from tsadeval.core.inputs import Bools, Events, Floats
from tsadeval.rankeval.quality import WrongPair
from tsadeval.rankeval.suites.hard_task import (
    ALARM,
    PHIS,
    Case,
    Changes,
    Drawing,
    HardTask,
    Quality,
    Random,
    ar_noise,
    log_uniform,
    place,
    some_normal,
    spans,
    usual_events,
)

LEVEL = 2.5  # of the anomalous points of the reference detector
LEAST_SKILL = 0.05
LEAST = 0.01  # a difference of two values that should be equal, in units of skill, that is worth showing
REFERENCE = "a detector of some skill"
COMPARED = ("reference", "random", "perfect")  # the cases that say how large a difference is


def _weighted(values: Floats, weights: Floats) -> Floats:
    """Means over repeats, of shape (resample, ...)."""
    return np.asarray(np.tensordot(weights, values, 1) / weights.sum(axis=1).reshape(-1, *[1] * (values.ndim - 1)))


def _skill_of(reference: Any, random: Any, perfect: Any) -> Any:
    """Return the difference of values that skill makes, in units of which changes are told."""
    return np.maximum(np.abs(reference - random), LEAST_SKILL * np.abs(perfect - random))


def _compared_with(
    values: Floats, names: Sequence[str], weights: Floats, of_means: bool
) -> tuple[Sequence[str], Floats]:
    """Compute how far the cases that should equal the reference are from it in units of its skill, by resample."""
    place_of = {name: i for i, name in enumerate(names)}
    others = [name for name in names if name not in COMPARED]
    away = values[:, [place_of[name] for name in others]] - values[:, [place_of["reference"]]]
    changed = np.abs(_weighted(away, weights)) if of_means else _weighted(np.abs(away), weights)
    skill = _skill_of(*(_weighted(values[:, place_of[name]], weights) for name in COMPARED))
    with np.errstate(invalid="ignore", divide="ignore"):
        return others, changed / skill[:, None]


def _without_change(change: Floats) -> Floats:
    """1 - change; undefined, or equal because the metric gives one value to everything, is worth nothing."""
    return np.where(np.isfinite(change), 1 - np.minimum(1, change), 0.0)


def equality(values: Floats, names: Sequence[str], weights: Floats, of_means: bool = False) -> Floats:
    """1 - mean change of the cases that should equal the reference, by resample; of means over repeats if `of_means`.

    Means are for cases that are drawn independently of the reference.
    """
    return _without_change(_compared_with(values, names, weights, of_means)[1].mean(axis=1))


def case_changes(values: Floats, names: Sequence[str], of_means: bool = False) -> dict[str, float]:
    """Compute the change that each nuisance makes, in units of the skill of the reference."""
    others, found = _compared_with(values, names, np.ones((1, len(values))), of_means)
    return dict(zip(others, found[0].tolist(), strict=True))


equality_of_means = partial(equality, of_means=True)


def chance_level(values: Floats, names: Sequence[str], weights: Floats) -> Floats:
    """1 - (largest - smallest mean value of scores without skill) / (perfect - mean), without undefined cases."""
    return _without_change(_spread(values, names, weights))


def kind_spreads(values: Floats, names: Sequence[str]) -> dict[str, float]:
    """Compute the same spread for each kind of scores without skill."""
    kinds = dict.fromkeys(name.partition(",")[0] for name in names if not name.startswith("perfect"))
    places = {kind: [i for i, name in enumerate(names) if name.startswith((kind, "perfect"))] for kind in kinds}
    once = np.ones((1, len(values)))
    return {kind: float(_spread(values[:, at], [names[i] for i in at], once)[0]) for kind, at in places.items()}


def _spread(values: Floats, names: Sequence[str], weights: Floats) -> Floats:
    known = np.isfinite(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = (weights @ np.where(known, values, 0.0)) / (weights @ known)
        perfect = np.array([name.startswith("perfect") for name in names])
        without = means[:, ~perfect]
        without = without[:, np.isfinite(without).any(axis=0)]
        if not without.shape[1] or not np.isfinite(means[:, perfect]).any():
            return np.full(len(weights), np.nan)
        spread = np.nanmax(without, axis=1) - np.nanmin(without, axis=1)
        return np.asarray(spread / np.abs(np.nanmean(means[:, perfect], axis=1) - np.nanmean(without, axis=1)))


# The pairs of cases of one repeat that got different values, as explanations show them.


def _tried(row: Floats, names: Sequence[str]) -> list[int]:
    """Return the places of the cases of one repeat that have a value and should have got equal ones."""
    return [i for i in np.flatnonzero(np.isfinite(row)).tolist() if not names[i].startswith(("random", "perfect"))]


def change_between(row: Floats, names: Sequence[str], one: int, other: int) -> float:
    """Compute how far two cases of one repeat are apart, in units of skill; 0 where that is nothing to show."""
    if not np.isfinite(row[[one, other]]).all():
        return 0.0
    if "reference" in names:
        skill = _skill_of(*(row[names.index(name)] for name in COMPARED))
    else:
        best = [value for name, value in zip(names, row, strict=True) if name.startswith("perfect")]
        skill = abs(np.nanmean(best) - np.mean(row[_tried(row, names)]))
    change = float(abs(row[one] - row[other]) / skill) if skill > 0 else 0.0
    return change if LEAST < change < math.inf else 0.0


def control_pairs(values: Floats, names: Sequence[str]) -> list[WrongPair]:
    """Pairs of cases of a control that got different values, the worst first.

    They are the reference and each other case; without a reference, the lowest and the highest value of a repeat.
    """
    found: list[WrongPair] = []
    for repeat, row in enumerate(values):
        known = _tried(row, names)
        pairs = [(min(known, key=row.item), max(known, key=row.item))] if known else []
        if "reference" in names:
            pairs = [(names.index("reference"), i) for i in known]
        changes = [(one, other, change_between(row, names, one, other)) for one, other in pairs]
        found += [WrongPair(repeat, one, other, "unequal", change) for one, other, change in changes if change]
    return sorted(found, key=lambda pair: -pair.severity)


def control(
    summary: str, quality: Quality, changes: Changes, words: Mapping[str, str]
) -> Callable[[Drawing], HardTask]:
    """Make a task of a function that draws the cases of a control; `words` say what was changed in each."""
    words = {"reference": REFERENCE, **words}

    def decorate(function: Drawing) -> HardTask:
        name = function.__name__
        return HardTask(name, summary, "control", function, quality, changes=changes, describe=words.__getitem__)

    return decorate


def _detector(random: Random, mask: Bools, phi: float | None = None) -> Floats:
    """Draw scores of the reference detector: some skill, noise, and the usual rate of false alarms."""
    phi = float(random.choice(PHIS)) if phi is None else phi
    scores = ar_noise(random, len(mask), phi) + LEVEL * mask
    scores[some_normal(random, mask, round(0.0045 * len(mask)))] += ALARM
    return scores


def _compared(random: Random, mask: Bools, scores: Floats, others: Iterable[Case]) -> list[Case]:
    return [
        Case("reference", mask, scores),
        *others,
        Case("random", mask, random.random(len(mask))),
        Case("perfect", mask, mask.astype(np.float64)),
    ]


def _of_detector(function: Callable[[Random, Events, Floats], Iterable[Case]]) -> Drawing:
    """Draw the cases of a control of a function that changes the scores or labels of a detector on the usual events."""

    @wraps(function)
    def draw(random: Random) -> list[Case]:
        events = usual_events(random)
        mask = events.mask()
        scores = _detector(random, mask)
        return _compared(random, mask, scores, function(random, events, scores))

    return draw


LABELS = ((1, 10), (1, 400), (10, 1), (10, 40), (40, 10), (1, 2000), (10, 200), (200, 10))  # of chance: events, points
KINDS = {"uniform": "uniform random scores", "slow": "slow random noise", "constant": "constant scores"}
WITHOUT_SKILL = {
    f"{kind}, {count} x {length}": f"{words}, labels with {count} event{'s' * (count != 1)} of {length} "
    f"point{'s' * (length != 1)}"
    for kind, words in KINDS.items()
    for count, length in LABELS
}


@control(
    "One to three normal points score 10 to 1,000 times the range above or below.",
    equality,
    case_changes,
    {f"{n} wild": f"its scores, with {n} wild among 10,000" for n in (1, 2, 3)},
)
@_of_detector
def glitch(random: Random, events: Events, scores: Floats) -> Iterable[Case]:
    """Give the same scores with 1, 2 and 3 wild values among 10,000."""
    for count in (1, 2, 3):
        changed = scores.copy()
        far = np.exp(random.uniform(np.log(10), np.log(1000), count)) * random.choice([-1, 1], count)
        changed[some_normal(random, events.mask(), count)] = scores.mean() + np.ptp(scores) * far
        yield Case(f"{count} wild", events.mask(), changed)


@control(
    "The same series sampled at every point, every second and every fourth.",
    equality,
    case_changes,
    {
        "every 2": "its scores and labels at every second point",
        "every 4": "its scores and labels at every fourth point",
    },
)
def resolution(random: Random) -> list[Case]:
    """Slow noise and long events, so that hardly anything is lost."""
    mask = place(random, log_uniform(random, 40, 240, 10)).mask()
    scores = _detector(random, mask, 0.9)
    others = [Case(f"every {step}", mask[::step].copy(), scores[::step].copy()) for step in (2, 4)]
    return _compared(random, mask, scores, others)


@control(
    "The same ten events in a shorter and in a longer series.",
    equality_of_means,
    partial(case_changes, of_means=True),
    {"reference": f"{REFERENCE}, in 5000 points"}
    | {f"{n} points": f"{REFERENCE}, in {n} points" for n in (2000, 20000)},
)
def prevalence(random: Random) -> list[Case]:
    """In 5,000 points (the reference), 2,000 and 20,000."""
    lengths, phi = log_uniform(random, 10, 60, 10), float(random.choice(PHIS))
    drawn = []
    for n in (5_000, 2_000, 20_000):
        mask = place(random, lengths, n=n).mask()
        drawn.append(Case(f"{n} points", mask, ar_noise(random, n, phi) + LEVEL * mask))
    return _compared(random, drawn[0].labels, drawn[0].scores, drawn[1:])


@control(
    "Labels drawn by another hand: the borders of events are moved by a few points.",
    equality,
    case_changes,
    {f"up to {n}": f"its scores, labels moved by up to {n} points" for n in (4, 8)},
)
@_of_detector
def jitter(random: Random, events: Events, scores: Floats) -> Iterable[Case]:
    """By up to 4 and up to 8 points, at random, each border on its own."""
    for most in (4, 8):
        by = random.integers(-most, most + 1, (2, len(events)))
        starts = events.starts + by[0]
        stops = np.maximum(events.stops + by[1], starts + 1)
        yield Case(f"up to {most}", spans(events.n, starts, stops), scores)


@control(
    "Six events are cut in three by gaps of one point in the labels.",
    equality,
    case_changes,
    {"cut": "its scores, six events cut by gaps in the labels"},
)
@_of_detector
def gaps(random: Random, events: Events, scores: Floats) -> Iterable[Case]:
    """Twelve of 10,000 labels change, and 40 events become 52."""
    cut, which = events.mask(), random.choice(len(events), 6, replace=False)
    for share in (1, 2):
        cut[events.starts[which] + share * events.lengths[which] // 3] = False
    yield Case("cut", cut, scores)


@control("Scores without skill get the same value whatever the labels.", chance_level, kind_spreads, WITHOUT_SKILL)
def chance(random: Random) -> list[Case]:
    """Uniform, AR(1) and constant scores on eight label sets, from one event of 10 points to half of all points."""
    n, cases = 4_000, []
    for count, length in LABELS:
        gap = min(50, (n - count * length) // (count + 1) // 2)  # half of what there is, where there are many
        mask = place(random, [length] * count, gap, n).mask()
        about = f"{count} x {length}"
        cases += [
            Case(f"uniform, {about}", mask, random.random(n)),
            Case(f"slow, {about}", mask, ar_noise(random, n, 0.9)),
            Case(f"constant, {about}", mask, np.full(n, 0.5)),  # zeros would be read as predictions
            Case(f"perfect, {about}", mask, mask.astype(np.float64)),
        ]
    return cases


TASKS = (glitch, resolution, prevalence, jitter, gaps, chance)
