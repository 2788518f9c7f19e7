"""Detection: what a run of detectors found: values, tables, kept scores."""

from __future__ import annotations

import warnings
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsadeval.comparison.compare import Comparison, DetectorTable, Values
from tsadeval.core.inputs import Floats
from tsadeval.core.registry import did_you_mean
from tsadeval.core.results import Row
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, UndefinedMetricWarning, UnknownNameError
from tsadeval.evaluation.many import SeriesResult, evaluate_many
from tsadeval.experiments.cell import LAYOUT, Cell
from tsadeval.experiments.plan import Plan
from tsadeval.experiments.scores import Kept, read_scores
from tsadeval.experiments.specs import Entrant

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Detection"]


class Detection:
    """What `detect` found. Printed, it is its tables.

    Attributes
    ----------
    plan : Plan
        Which data sets, detectors, metrics and threshold.
    folder : Path
        The store; its `scores/` holds the scores.
    """

    def __init__(self, plan: Plan, store: Store[Cell], folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self._frame = store.frame(plan.cells())

    @classmethod
    def read(cls, folder: str | Path) -> Detection:
        """All runs in a store put together, as far as they got."""
        store = Store.existing(folder, LAYOUT)
        plans = [Plan.of_record(record) for record in store.plans()]
        if not plans:
            raise InvalidInputError(f"{folder} holds no run: run `{LAYOUT.command} --store {folder}` first")
        whole = plans[0]
        for plan in plans[1:]:
            whole = whole.joined(plan)
        return cls(whole, store, Path(folder))

    def values(self) -> pd.DataFrame:
        """All rows: what names each value, the value, seconds, device, status, message and versions."""
        return self._frame.copy()

    @property
    def titles(self) -> dict[str, str]:
        """The detectors, and how tables call them: by their full texts where they would share a title."""
        found = {entrant.text: entrant.title for entrant in self.plan.entrants}
        shared = Counter(found.values())
        return {text: title if shared[title] == 1 else text for text, title in found.items()}

    @cached_property
    def comparison(self) -> Comparison:
        """The values as a comparison of detectors; of several seeds the mean."""
        names = [candidate.name for candidate in self.plan.candidates]
        found: dict[tuple[str, str], list[Row]] = {}
        columns = (self._frame[name].tolist() for name in ("dataset", "detector", "metric", "value"))
        for dataset, detector, metric, value in zip(*columns, strict=True):
            found.setdefault((dataset, detector), []).append({"metric": metric, "value": value})
        rows = []
        for dataset in self.plan.datasets:
            for detector in self.titles:
                means = SeriesResult(found.get((dataset, detector), []), names, {}).macro
                rows += [
                    {"series": dataset, "detector": detector, "metric": metric, "value": value}
                    for metric, value in means.items()
                ]
        return Comparison(rows, pooled=self._micro, titles=self.titles)

    def table(self, dataset: str | None = None, *, percent: bool = False) -> DetectorTable:
        """Detectors by metrics on one data set; where there is one only, it need not be named."""
        return self.comparison.table(dataset, percent=percent)

    def average(self, how: Any = "macro", *, percent: bool = False) -> DetectorTable:
        """Detectors by metrics over all data sets; see `Comparison.average`."""
        return self.comparison.average(how, percent=percent)

    def scores(self, dataset: str, detector: str, seed: int = 0) -> Kept:
        """The scores and labels of a detector (by its text or title) on a data set, and where they came from."""
        for entrant in self.plan.entrants:
            if detector in (entrant.text, self.titles[entrant.text]) and entrant.seed in (seed, None):
                kept = self._kept(dataset, entrant)
                if kept is None:
                    raise InvalidInputError(f"{entrant.text} has no scores on {dataset} yet: continue the run")
                return kept
        raise UnknownNameError(
            f"no detector {detector!r} with seed {seed} in this result: {did_you_mean(detector, list(self.titles))}"
        )

    def all_scores(self, dataset: str, seed: int = 0) -> dict[str, Floats]:
        """The scores of all detectors that have some on a data set, by the titles of the detectors."""
        found = {self.titles[e.text]: self._kept(dataset, e) for e in self.plan.entrants if e.seed in (seed, None)}
        return {title: kept.scores for title, kept in found.items() if kept is not None}

    def _kept(self, dataset: str, entrant: Entrant) -> Kept | None:
        if dataset not in self.plan.datasets:
            known = list(self.plan.datasets)
            raise UnknownNameError(f"no data set {dataset!r} in this result: {did_you_mean(dataset, known)}")
        return read_scores(self.folder, dataset, self.plan.datasets[dataset], entrant)

    def _micro(self) -> Values:
        """All points of all data sets pooled, for the metrics of the registry; of several seeds the mean."""
        names = [c.name for c in self.plan.candidates if c.kind != "guest"]
        rows: dict[str, list[Row]] = {}
        for entrant in self.plan.entrants:
            kept = {name: self._kept(name, entrant) for name in self.plan.datasets}
            entries = [(name, found.labels, found.scores) for name, found in kept.items() if found is not None]
            if not names or len(entries) < len(kept):
                continue  # a pool with a data set less than the others would not compare
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UndefinedMetricWarning)  # the tables of the data sets show it
                pooled = evaluate_many(entries, names, threshold=self.plan.threshold).micro
            rows.setdefault(entrant.text, []).extend({"metric": m, "value": v} for m, v in pooled.items())
        return {text: SeriesResult(found, names, {}).macro for text, found in rows.items()}

    def failures(self) -> list[str]:
        """A line for each detector that failed on a data set, and for each metric that did, with what it said."""
        lines: dict[str, None] = {}
        for row in self._frame[self._frame["status"] == "error"].to_dict("records"):
            who, message = self.titles[row["detector"]], " ".join(row["message"].split())  # a line, whatever was said
            if not isinstance(row["device"], str):  # there were no scores to judge
                lines[f"{who} failed on {row['dataset']}: {message}"] = None
            else:
                lines[f"{row['metric']} failed on {who}, {row['dataset']}: {message}"] = None
        return list(lines)

    def undefined(self) -> list[str]:
        """A line for each reason why a metric has no value where scores are: which metrics, and on which data sets."""
        found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
        for row in self._frame[self._frame["status"] == "undefined"].to_dict("records"):
            metrics, datasets = found.setdefault(row["message"] or "it is not a finite number", ({}, {}))
            metrics[row["metric"]] = datasets[row["dataset"]] = None
        return [
            f"{', '.join(metrics)} undefined on {', '.join(list(datasets)[:3])}"
            f"{f' and {len(datasets) - 3} more' if len(datasets) > 3 else ''}: {message}"
            for message, (metrics, datasets) in found.items()
        ]

    def __repr__(self) -> str:
        return repr(self.comparison)
