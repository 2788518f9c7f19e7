"""Plan of `te.detect` (cells and chunks that share scores), and its result, `Detection`."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tsadeval.comparison.comparison import Comparison, Made, Run
from tsadeval.comparison.detector_table import Values
from tsadeval.core.facts import OddAlarms, Origin, finite_mean, odd_alarms, rule_facts
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.metric import BINARY, Metric, Rule
from tsadeval.core.names import did_you_mean
from tsadeval.core.results import Row
from tsadeval.engine.cells import OUTCOME, Layout, Working, versions
from tsadeval.engine.compute import error_row, metric_of_record, outcome_row, record_of_metric
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, ThresholdWarning, TsadevalError, UndefinedMetricWarning, UnknownNameError
from tsadeval.evaluation.many import evaluate_many
from tsadeval.experiments.dataset_sources import Source
from tsadeval.experiments.detector_specs import DetectorSpec, keep_scores
from tsadeval.scores.cache import CachedScores, read_scores
from tsadeval.thresholds.rules import parse_rule

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.datasets import Dataset


class Cell(NamedTuple):
    """One value. `checksum` is of the data, so that changed files under an old name are other cells.

    `version` tells apart two states of a metric; `rule` is None for metrics that take scores; `seed` is None for
    detectors that take none.
    """

    series: str
    checksum: str
    detector: str
    seed: int | None
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout(
    Cell,
    {
        "series": "string",
        "checksum": "string",
        "detector": "string",
        "seed": "int64",
        "metric": "string",
        "version": "string",
        "rule": "string",
        "fit_seconds": "float64",
        "score_seconds": "float64",
        "device": "string",
        **OUTCOME,
    },
    "tsadeval detect",
)


@dataclass(frozen=True, eq=False)
class Chunk:
    """Cells of one detector on one data set, with all that is needed to compute them.

    `folder` is the store that keeps the scores.
    """

    source: Source
    checksum: str
    detector: DetectorSpec
    device: str
    folder: Path
    cells: tuple[Cell, ...]
    metrics: dict[str, Metric]


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes. `datasets` maps names to the checksums of their data."""

    datasets: dict[str, str]
    detectors: tuple[DetectorSpec, ...]
    metrics: tuple[Metric, ...]
    rule: str
    sources: dict[str, Source] = field(default_factory=dict, compare=False)

    def cells(self) -> list[Cell]:
        """Every value there is to compute."""
        return [
            Cell(name, checksum, d.text, d.seed, str(m), m.version, self.rule if m.kind == "predictions" else None)
            for name, checksum in self.datasets.items()
            for d in self.detectors
            for m in self.metrics
        ]

    def chunks(self, cells: Iterable[Cell], folder: Path, device: str, hold: int = 0) -> list[Chunk]:
        """The cells in groups that share their scores, in the order of the plan.

        Data that were not read for the plan are read now, and kept up to `hold` bytes in all.
        """
        groups: dict[tuple[str, str, int | None], list[Cell]] = {}
        for cell in cells:
            groups.setdefault((cell.series, cell.detector, cell.seed), []).append(cell)
        detectors = {(d.text, d.seed): d for d in self.detectors}
        metrics = {str(m): m for m in self.metrics}
        sources = self._loaded({name for name, _, _ in groups}, hold)
        return [
            Chunk(
                source=sources[name],
                checksum=self.datasets[name],
                detector=detectors[text, seed],
                device=device,
                folder=folder,
                cells=tuple(group),
                metrics={cell.metric: metrics[cell.metric] for cell in group},
            )
            for (name, text, seed), group in groups.items()
        ]

    def _loaded(self, names: set[str], hold: int) -> dict[str, Source]:
        """These sources with their labels; whoever needs one that has changed since, or is not there, will say so."""
        found = {}
        for name in (name for name in self.sources if name in names):
            source = self.sources[name]
            if source.labels is None:
                with suppress(TsadevalError):
                    dataset = source.load()
                    if dataset.description.checksum == self.datasets[name]:
                        source = source.with_data(dataset, hold)
            hold -= source.held.nbytes if source.held is not None else 0
            found[name] = source
        return found

    def record(self) -> dict[str, Any]:
        """The plan as plain data for the store."""
        return {
            "datasets": self.datasets,
            "detectors": [{"text": d.text, "title": d.title, "seed": d.seed} for d in self.detectors],
            "metrics": [record_of_metric(metric) for metric in self.metrics],
            "rule": self.rule,
        }

    @classmethod
    def of_record(cls, record: dict[str, Any]) -> Plan:
        """The plan that was recorded; what ran is there by name only."""
        try:
            return cls(
                datasets=dict(record["datasets"]),
                detectors=tuple(DetectorSpec(**detector) for detector in record["detectors"]),
                metrics=tuple(metric_of_record(metric) for metric in record["metrics"]),
                rule=record["rule"],
            )
        except (KeyError, TypeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the detectors again into it"
            ) from None

    def joined(self, other: Plan) -> Plan:
        """Both plans in one; where they differ (data under an old name, an edited metric) the other one counts."""
        metrics = {str(m): m for m in (*self.metrics, *other.metrics)}
        detectors = {(d.text, d.seed): d for d in (*self.detectors, *other.detectors)}
        datasets = {**self.datasets, **other.datasets}
        return Plan(datasets, tuple(detectors.values()), tuple(metrics.values()), other.rule)


def compute(chunk: Chunk) -> Iterator[Row | Working]:
    """A row for every cell. Errors of the detector or the data become rows as well."""
    yield Working(chunk.cells)
    try:
        cached = _scores(chunk)
        scoring = Scoring.of(cached.labels, cached.scores)
    except Exception as error:
        lost = {**error_row(error), "versions": versions()}
        yield from ({**cell._asdict(), **lost} for cell in chunk.cells)
        return
    facts = {
        "n": scoring.n,
        "events": len(scoring.events),
        "anomalous": scoring.events.points,
        "versions": versions(),
        **{key: cached.provenance[key] for key in ("fit_seconds", "score_seconds", "device")},
    }
    for cell in chunk.cells:
        yield Working((cell,))
        yield {**cell._asdict(), **facts, **outcome_row(chunk.metrics[cell.metric], scoring, cell.rule)}


def _scores(chunk: Chunk) -> CachedScores:
    """The cached scores, or new ones; the data are loaded only where they are needed."""
    source, detector = chunk.source, chunk.detector
    dataset = _dataset(chunk) if source.labels is None else None
    labels = source.labels if dataset is None else dataset.test_labels
    cached = read_scores(chunk.folder, source.name, chunk.checksum, detector.text, detector.seed, labels)
    if cached is not None:
        return cached
    return keep_scores(dataset or _dataset(chunk), detector, chunk.folder, name=source.name, device=chunk.device)


def _dataset(chunk: Chunk) -> Dataset:
    dataset = chunk.source.load()
    if dataset.description.checksum != chunk.checksum:
        raise InvalidInputError(
            f"{chunk.source.name} has changed since the run began, so its values were not kept: run the command again"
        )
    return dataset


# Detection: the values, tables and cached scores of detectors on data sets.


SHOWN = 5  # failures that are printed under the tables


class Detection(Comparison):
    """What `detect` found: a row per data set, detector, seed and metric. Prints as its tables.

    Attributes
    ----------
    plan : Plan
        Which data sets, detectors, metrics and rule.
    folder : Path
        The store; its `scores/` holds the scores.
    """

    def __init__(self, plan: Plan, store: Store[Cell], folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self._frame = store.frame(plan.cells())
        made = Made(plan.metrics, parse_rule(plan.rule))
        rows = _rows(self._frame)
        _name_rules(rows, made.rule, {str(m) for m in plan.metrics if m.kind == "predictions" and m.best_is_trivial})
        super().__init__(rows, titles=self.titles, made=made, odd=_odd(rows))
        # As planned, whether or not a value is there yet.
        self.series = list(plan.datasets)
        self.detectors = list(self.titles)
        self.metrics = list(map(str, plan.metrics))

    def to_frame(self) -> pd.DataFrame:
        """All rows: what names each value, the value, threshold, seconds, device, status, message and versions."""
        return self._frame.copy()

    @property
    def titles(self) -> dict[str, str]:
        """The detectors, and how tables call them: by their full texts where they would share a title."""
        found = {spec.text: spec.title for spec in self.plan.detectors}
        shared = Counter(found.values())
        return {text: title if shared[title] == 1 else text for text, title in found.items()}

    def scores(self, series: str, detector: str, seed: int = 0) -> CachedScores:
        """The scores and labels of a detector (by its text or title) on a data set, and where they came from."""
        for spec in self.plan.detectors:
            if detector in (spec.text, self.titles[spec.text]) and spec.seed in (seed, None):
                cached = self._cached(series, spec)
                if cached is None:
                    raise InvalidInputError(f"{spec.text} has no scores on {series} yet: continue the run")
                return cached
        hint = did_you_mean(detector, list(self.titles.values()))
        raise UnknownNameError(f"no detector {detector!r} with seed {seed} in this result: {hint}")

    def scorings(self) -> Iterator[Run]:
        """(data set, detector, y_true, y_score) of all scores that are cached."""
        for series in self.plan.datasets:
            for spec in self.plan.detectors:
                cached = self._cached(series, spec)
                if cached is not None:
                    title = self.titles[spec.text] + (f", seed {spec.seed}" if spec.seed else "")
                    yield series, title, cached.labels, cached.scores

    def all_scores(self, series: str, seed: int = 0) -> dict[str, Floats]:
        """The scores of all detectors that have some on a data set, by the titles of the detectors."""
        found = {self.titles[d.text]: self._cached(series, d) for d in self.plan.detectors if d.seed in (seed, None)}
        return {title: cached.scores for title, cached in found.items() if cached is not None}

    def _cached(self, series: str, spec: DetectorSpec) -> CachedScores | None:
        if series not in self.plan.datasets:
            known = list(self.plan.datasets)
            raise UnknownNameError(f"no data set {series!r} in this result: {did_you_mean(series, known)}")
        return read_scores(self.folder, series, self.plan.datasets[series], spec.text, spec.seed)

    @cached_property
    def _micro(self) -> Values:
        """All points of all data sets pooled, for the metrics of the library; of several seeds the mean."""
        metrics = [metric for metric in self.plan.metrics if metric.library]
        found: dict[str, dict[str, list[float]]] = {}
        for spec in self.plan.detectors:
            cached = {name: self._cached(name, spec) for name in self.plan.datasets}
            entries = [(name, one.labels, one.scores) for name, one in cached.items() if one is not None]
            if not metrics or len(entries) < len(cached):
                continue  # a pool with a data set less than the others would not compare
            with warnings.catch_warnings():  # the tables of the data sets show it
                warnings.simplefilter("ignore", UndefinedMetricWarning)
                warnings.simplefilter("ignore", ThresholdWarning)
                pooled = evaluate_many(entries, metrics, threshold=self.plan.rule).micro
            for metric, value in pooled.items():
                found.setdefault(spec.text, {}).setdefault(metric, []).append(value)
        return {text: {m: finite_mean(values) for m, values in by.items()} for text, by in found.items()}

    def failures(self) -> list[str]:
        """A line for each detector that raised on a data set, and for each metric that did, with the message."""
        lines: dict[str, None] = {}
        for row in self._frame[self._frame["status"] == "error"].to_dict("records"):
            who, message = self.titles[row["detector"]], " ".join(row["message"].split())
            if not isinstance(row["device"], str):  # there were no scores to evaluate
                lines[f"{who} failed on {row['series']}: {message}"] = None
            else:
                lines[f"{row['metric']} failed on {who}, {row['series']}: {message}"] = None
        return list(lines)

    def _notes(self) -> list[str]:
        # The command line prints the failures by themselves.
        lines = self.failures()
        more = [f"and {len(lines) - SHOWN} more such lines: failures() has all"] * (len(lines) > SHOWN)
        return [*self._marks(), *lines[:SHOWN], *more]

    def undefined(self) -> list[str]:
        """A line for each reason why a metric has no value where scores are: which metrics, and on which data sets."""
        found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
        for row in self._frame[self._frame["status"] == "undefined"].to_dict("records"):
            metrics, datasets = found.setdefault(row["message"] or "it is not a finite number", ({}, {}))
            metrics[row["metric"]] = datasets[row["series"]] = None
        return [
            f"{', '.join(metrics)} undefined on {', '.join(list(datasets)[:3])}"
            f"{f' and {len(datasets) - 3} more' if len(datasets) > 3 else ''}: {message}"
            for message, (metrics, datasets) in found.items()
        ]


def _rows(frame: pd.DataFrame) -> list[Row]:
    """Plain rows: what is missing in a column of numbers or texts is None, not NaN; a value may be NaN."""
    names = list(map(str, frame.columns))
    columns = [
        column.tolist() if name == "value" else column.astype(object).where(column.notna(), None).tolist()
        for name, column in zip(names, map(frame.__getitem__, names), strict=True)
    ]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _name_rules(rows: list[Row], rule: Rule, trivial: set[str]) -> None:
    """Name the rules that were used, as `te.compare` does; stores of 0.1.0 have the rule that was asked for alone."""
    for row in rows:
        used = row.pop("used")
        if used is not None or row["rule"] is None:
            row["rule"] = used
            continue
        row |= rule_facts(rule)
        if row["origin"] == Origin.BEST and row["alarms"] is not None and row["threshold"] is None:
            row |= {"rule": BINARY, "origin": Origin.SCORES, "uses_labels": False}
        elif row["origin"] == Origin.BEST and row["metric"] in trivial:
            row |= {"rule": "best(f1)", "origin": Origin.BEST_OF_ONE}


def _odd(rows: list[Row]) -> dict[tuple[str, str], OddAlarms | None]:
    """What is odd about the alarms, by data set and detector: with any of its seeds."""
    parts: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((row["series"], row["detector"]), []).append(row)
    found = {key: [odd_alarms([row], row["n"]) for row in some if row["n"] is not None] for key, some in parts.items()}
    return {key: next(filter(None, some), None) for key, some in found.items()}


def read(folder: str | Path) -> Detection:
    """All runs of `detect` in a store put together, as far as they got."""
    store = Store.existing(folder, LAYOUT)
    plans = [Plan.of_record(record) for record in store.plans()]
    if not plans:
        raise InvalidInputError(f"{folder} holds no run: run `{LAYOUT.command} --store {folder}` first")
    whole = plans[0]
    for plan in plans[1:]:
        whole = whole.joined(plan)
    return Detection(whole, store, Path(folder))
