"""The suite `audit`: real scores against adversaries, scorers that a good metric does not rate near a real detector.

- *no skill*: they look at nothing, not even at the series.
- *search*: several attempts without a look at the series, of which the best counts: random smooth scores, fixed shapes
  over time, and combs of evenly spaced alarms, as many and as long as the events, but not at their positions.
- *one-liner*: a line of code on the series itself. These have some skill; a benchmark on which they reach real
  detectors says little about detectors.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from tsadeval.comparison.choosing import has_both
from tsadeval.core.inputs import Events, Floats, Scoring
from tsadeval.core.metric import Rule
from tsadeval.core.names import Registry, import_object, split_names
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import rule_key, rule_of_key
from tsadeval.engine.fingerprints import fingerprint
from tsadeval.errors import InputWarning, InvalidInputError, InvalidParameterError, warn
from tsadeval.rankeval.series import random_stream
from tsadeval.rankeval.suite import Suite
from tsadeval.rankeval.suites.audit_table import DETECTOR, AuditAnalysis
from tsadeval.scores.cache import checked_scores
from tsadeval.scores.scored import NO_SCORE, observe
from tsadeval.scores.scores import Scores, SeriesScores, as_scores
from tsadeval.tables import read_table, table_files
from tsadeval.tables.columns import is_numeric
from tsadeval.thresholds.rules import parse_rule

Random = np.random.Generator
Kind = Literal["no skill", "search", "one-liner"]

SMOOTH = 100  # points over which random scores are averaged
WINDOW = 50  # of the moving variance


class Target(NamedTuple):
    """What an adversary may use: the series (None where the table has none) and its events."""

    values: Floats | None
    events: Events

    @property
    def n(self) -> int:
        """Number of points."""
        return self.events.n


@dataclass(frozen=True)
class Adversary:
    """A scorer to try metrics with. `scores(target, random)` returns a score for every point."""

    name: str
    kind: Kind
    summary: str
    scores: Callable[[Target, Random], Any] = field(repr=False, compare=False)
    version: str = "1"
    library: bool = True

    @classmethod
    def from_function(cls, function: Callable[[int, Random], Any], name: str = "") -> Self:
        """Make a scorer without skill of a function of the number of points and a random generator.

        >>> Adversary.from_function(lambda n, random: random.normal(size=n), "noise").kind
        'no skill'
        """
        name = name or getattr(function, "__name__", "adversary")
        summary = (getattr(function, "__doc__", None) or "An adversary of your own.").strip().partition("\n")[0]

        def scores(target: Target, random: Random) -> Any:
            return function(target.n, random)

        return cls(name, "no skill", summary, scores, fingerprint(function), library=False)

    def checked(self, target: Target, random: Random) -> Floats:
        """Its scores: one finite number for each point, or an error that names it."""
        return checked_scores(self.scores(target, random), f"adversary {self.name}", target.n)

    def __reduce__(self) -> Any:
        # One of the library is known by its name.
        if self.library:
            return _of_library, (self.name,)
        return Adversary, (self.name, self.kind, self.summary, self.scores, self.version, False)


def _of_library(name: str) -> Adversary:
    return ADVERSARIES[name]


def _moving_mean(values: Floats, window: int) -> Floats:
    """Centred mean over a window, cut at the ends of the series."""
    window = min(window, len(values))
    total = np.concatenate([[0.0], np.cumsum(values)])
    at = np.arange(len(values))
    low, high = np.maximum(at - window // 2, 0), np.minimum(at - window // 2 + window, len(values))
    return np.asarray((total[high] - total[low]) / (high - low))


def _smooth(window: int) -> Callable[[Target, Random], Floats]:
    return lambda target, random: _moving_mean(random.random(target.n), window)


def _from_middle(target: Target, random: Random) -> Floats:
    return np.asarray(np.abs(np.arange(target.n) - (target.n - 1) / 2))


def _comb(times: int) -> Callable[[Target, Random], Floats]:
    """Evenly spaced alarms, as long as the median event, so many times as many as there are events."""

    def scores(target: Target, random: Random) -> Floats:
        count = max(times * len(target.events), 1)
        length = int(np.median(target.events.lengths)) if len(target.events) else 1
        period = max(target.n / count, 1.0)
        return np.asarray((np.arange(target.n) + 0.5) % period < length, np.float64) + 0.01 * random.random(target.n)

    return scores


def _series(target: Target) -> Floats:
    """Return the series; points without a value get the mean of the others, which is no anomaly."""
    if target.values is None:
        raise InvalidParameterError("this adversary needs the values of the series")
    known = np.isfinite(target.values)
    return np.where(known, target.values, target.values[known].mean() if known.any() else 0.0)


def _moving_variance(target: Target, random: Random) -> Floats:
    values = _series(target)
    values = values - values.mean()  # so that squares do not lose digits to a common offset
    return np.maximum(_moving_mean(values**2, WINDOW) - _moving_mean(values, WINDOW) ** 2, 0.0)


ADVERSARIES: Registry[Adversary] = Registry(
    "adversary",
    records=[
        Adversary(
            "uniform", "no skill", "Independent uniform random scores.", lambda target, random: random.random(target.n)
        ),
        Adversary("smooth", "no skill", f"Uniform random scores averaged over {SMOOTH} points.", _smooth(SMOOTH)),
        Adversary(
            "spikes",
            "no skill",
            "One point in a hundred is a spike, at random; the rest is small noise.",
            lambda target, random: 0.01 * random.random(target.n) + (random.random(target.n) < 0.01),
        ),
        Adversary("position", "no skill", "The position in time.", lambda target, random: np.arange(1.0 * target.n)),
        *(
            Adversary(f"smooth {n}", "search", f"Uniform random scores averaged over {n} points.", _smooth(n))
            for n in (10, 30, 100, 300, 1000)
        ),
        Adversary(
            "falling",
            "search",
            "The reverse of the position in time.",
            lambda target, random: -np.arange(1.0 * target.n),
        ),
        Adversary("middle", "search", "How near the middle of the series is.", lambda *given: -_from_middle(*given)),
        Adversary("ends", "search", "How far the middle of the series is.", _from_middle),
        *(
            Adversary(
                f"comb {n}",
                "search",
                f"Evenly spaced alarms, {n} for each event, as long as the median event.",
                _comb(n),
            )
            for n in (1, 2, 4)
        ),
        Adversary("moving variance", "one-liner", f"Variance of the series over {WINDOW} points.", _moving_variance),
        Adversary(
            "squared difference",
            "one-liner",
            "Square of the change from the point before.",
            lambda target, random: np.diff(_series(target), prepend=_series(target)[0]) ** 2,
        ),
    ],
)

AnyAdversary = str | Adversary | Callable[[int, Any], Any]


def choose_adversaries(own: Iterable[AnyAdversary] = ()) -> list[Adversary]:
    """Return the adversaries of the library, and a user's own."""
    found = dict(ADVERSARIES)
    for one in [own] if isinstance(own, (str, Adversary)) or callable(own) else own:
        if isinstance(one, str):
            one = Adversary.from_function(import_object(one, "adversary"), one)
        elif not isinstance(one, Adversary):
            one = Adversary.from_function(one)
        if one.name in found:
            raise InvalidParameterError(f"there is already an adversary named {one.name!r}: rename yours")
        found[one.name] = one
    return list(found.values())


class AuditCell(NamedTuple):
    """One value of one metric on the scores of one detector or adversary on one series."""

    series: str
    mark: str
    detector: str
    kind: str
    scorer_version: str
    seed: int
    metric: str
    version: str
    rule: str | None


class SeriesRecord(NamedTuple):
    """What names a series in a store, the detectors that have scores on it, and those of them that lack some."""

    name: str
    mark: str
    detectors: tuple[str, ...]
    has_values: bool
    incomplete: tuple[str, ...] = ()

    @classmethod
    def of(cls, series: SeriesScores, scores: Scores) -> Self:
        """Take the detectors that have scores for points of both classes."""
        found = series.detectors
        both = tuple(name for name in found if has_both(found[name]))
        lacking = tuple(name for name in both if found[name].missing)
        return cls(series.name, _mark(series, scores), both, series.values is not None, lacking)


def _mark(series: SeriesScores, scores: Scores) -> str:
    """Return a key of all numbers of a series, so that a store does not mistake it for another of the same name."""
    labels = np.asarray(series.y_true) == 1
    numbers = {name: one.given.y_score for name, one in series.detectors.items()}
    lost = (one for one in scores.left_out.rows if one["series"] == series.name and one["reason"] == NO_SCORE)
    numbers |= dict.fromkeys((one["detector"] for one in lost), np.full(len(labels), np.nan))
    digest = hashlib.sha256(np.packbits(labels).tobytes())
    for name in sorted(numbers, key=scores.detectors.index):
        digest.update(name.encode() + np.asarray(numbers[name], np.float64).tobytes())
    if series.values is not None:
        digest.update(np.asarray(series.values, np.float64).tobytes())
    return digest.hexdigest()[:12]


Scored = tuple[str, str, str]  # name, kind and version of an adversary or a detector


@dataclass(frozen=True)
class AuditSuite(Suite):
    """Real scores, and scorers without skill: how far these reach real detectors, and how metrics agree.

    `series`, `scorers` and `rule` are what a run makes of the data, the adversaries and the threshold.
    """

    layout: ClassVar[Layout[Any]] = Layout.of(AuditCell, "tsadeval rankeval run --suite audit")
    analysis: ClassVar[type[Any]] = AuditAnalysis
    options: ClassVar[tuple[str, ...]] = (
        "data",
        "label",
        "score",
        "by",
        "values",
        "threshold",
        "adversaries",
        "seed",
    )
    nullable: ClassVar[frozenset[str]] = frozenset({"by", "values"})

    data: Any = field(default=None, compare=False, repr=False)
    label: str = field(default="label", compare=False)
    score: Any = field(default="*", compare=False)
    by: str | Sequence[str] | None = field(default="series", compare=False)
    values: str | None = field(default="value", compare=False)
    threshold: Any = field(default="quantile(0.95)", compare=False)
    adversaries: Any = field(default=(), compare=False)
    series: tuple[SeriesRecord, ...] = ()
    scorers: tuple[Scored, ...] = ()
    rule: str = ""

    def bind(self, metrics: Metrics | None, scores: Any = None) -> Self:
        """Return the plan of a run on these scores."""
        tried, threshold = choose_adversaries(self.adversaries), parse_rule(self.threshold)
        usable = self.usable(self.read(self.data if scores is None else scores))
        names = {a.name for a in tried}
        for taken in (name for series, _ in usable for name in series.detectors if name in names):
            raise InvalidInputError(f"detector {taken!r} is called as an adversary of the audit is: rename it")
        return replace(
            super().bind(metrics),
            data={series.name: series for series, _ in usable},
            threshold=threshold,
            adversaries=tried,
            series=tuple(record for _, record in usable),
            scorers=tuple((a.name, a.kind, a.version) for a in tried),
            rule=rule_key(threshold),
        )

    def usable(self, parts: Iterable[Scores]) -> list[tuple[SeriesScores, SeriesRecord]]:
        """Read the series that have points of both classes and a detector's scores."""
        given, lost = [], []
        for scores in parts:
            try:
                given += [(series, SeriesRecord.of(series, scores)) for series in scores.by_series()]
                lost += scores.left_out_lines()
            except InvalidInputError as error:  # nothing of this table can be used
                lost.append(str(error))
        for name, count in Counter(series.name for series, _ in given).items():
            if count > 1:
                raise InvalidInputError(f"two tables have a series {name!r}: rename one")
        usable = [(series, record) for series, record in given if 0 < np.mean(series.y_true) < 1]
        if not usable:
            found = f"data has {len(given)} series, but none" if given else "data has no series"
            raise InvalidInputError(
                "; ".join([f"{found} with both normal and anomalous points and a detector's scores", *lost])
            )
        for line in lost:
            warn(f"left out: {line}", InputWarning)
        return usable

    def read(self, data: Any) -> list[Scores]:
        """Read real scores: a `te.Scores`, a table, a file, or all tables with labels in a folder."""
        if data is None:
            raise InvalidParameterError(
                f"suite {self.name!r} needs data (--data): a table, or a folder of tables, of scores"
            )
        if isinstance(data, (Scores, list, tuple)) or hasattr(data, "scorings"):
            return [as_scores(data)]
        folder = isinstance(data, (str, os.PathLike)) and Path(data).is_dir()
        text = split_names(self.by or ())
        tables = [read_table(source, text=text) for source in (table_files(data) if folder else [data])]
        found = []
        for table in tables:
            if self.label in table or not folder:  # a folder of scores may hold other tables too
                by = [name for name in text if name in table]
                values = self.values if self.values in table and is_numeric(table.columns[self.values or ""]) else None
                scores = Scores(table, label=self.label, score=self.score, by=by, values=values)
                found.append(scores.rename(series={"": table.source}))
        return found

    @property
    def detectors(self) -> list[str]:
        """All detectors, in the order in which the series bring them."""
        return list(dict.fromkeys(name for series in self.series for name in series.detectors))

    def cells(self) -> list[AuditCell]:
        """Return every value there is to compute."""
        return [
            AuditCell(s.name, s.mark, name, kind, mark, self.seed or 0, str(m), m.version, rule)
            for s in self.series
            for name, kind, mark in self._scorers_of(s)
            for m in self.metrics
            for rule in [self.rule if m.kind == "predictions" else None]
        ]

    def _scorers_of(self, series: SeriesRecord) -> list[Scored]:
        """Return all whose scores are judged on a series."""
        tried = [one for one in self.scorers if series.has_values or one[1] != "one-liner"]
        # Points without a score are masked; they were cut out where a store has no such version.
        versions = {name: "masked" if name in series.incomplete else "" for name in series.detectors}
        return [*((name, DETECTOR, version) for name, version in versions.items()), *tried]

    def chunks(self, cells: Iterable[AuditCell]) -> list[Chunk]:
        """Return the cells, a chunk for each series; the longest first."""
        adversaries = {a.name: a for a in self.adversaries}
        groups = group_cells(cells, lambda cell: cell.series)
        ordered = sorted(groups.items(), key=lambda item: -np.size(self.data[item[0]].y_true))
        rules: dict[str, Rule] = {self.rule: self.threshold}
        return [self.chunk(scorings, group, rules, (self.data[name], adversaries)) for name, group in ordered]

    def without_data(self) -> Self:
        """Return the plan as a result keeps it, without the scores."""
        return replace(self, data=None)

    def recorded(self) -> dict[str, Any]:
        """Return what a store keeps of the options."""
        series, adversaries = [list(s) for s in self.series], [list(a) for a in self.scorers]
        return {"series": series, "adversaries": adversaries, "rule": self.rule, "seed": self.seed}

    def _options_of(self, record: dict[str, Any]) -> dict[str, Any]:
        series = tuple(SeriesRecord(s[0], s[1], tuple(s[2]), s[3], *map(tuple, s[4:])) for s in record["series"])
        made = {"series": series, "scorers": tuple((a[0], a[1], a[2]) for a in record["adversaries"])}
        return super()._options_of(record) | {**made, "threshold": rule_of_key(record["rule"])}


def stream(series: str, adversary: str, seed: int) -> np.random.Generator:
    """Return the random stream of an adversary on a series: the same whatever else is run."""
    return random_stream(seed, "audit", series, adversary)


def scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scores of detectors and adversaries on a series, which are the payload of the chunk."""
    for cells in group_cells(chunk.cells, lambda cell: cell.detector).values():
        yield tuple(cells), partial(scoring_of, cells[0], *chunk.payload)


def scoring_of(cell: AuditCell, series: SeriesScores, adversaries: dict[str, Adversary]) -> tuple[Scoring, Row]:
    """Return the scores of a detector, or those of an adversary on the points that the detectors are judged on."""
    events, name = Events.of(series.y_true), cell.detector
    facts = {"events": len(events), "anomalous": events.points}
    if cell.kind == DETECTOR:
        return series.detectors[name].scoring, facts
    values = None if series.values is None else np.asarray(series.values, np.float64)
    scores = adversaries[name].checked(Target(values, events), stream(series.name, name, cell.seed))
    ignore = next(iter(series.detectors.values())).given.ignore
    return observe(series.y_true, scores, times=series.times, ignore=ignore), facts


AUDIT = AuditSuite("audit", "real scores (--data) against adversaries: gameability and agreement")
