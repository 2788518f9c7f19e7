"""Rankings of a run of the paper's suites: values as arrays, quality, and averages with intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval.comparison.statistics import resample
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import Metric
from tsadeval.rankeval.generators import GENERATORS
from tsadeval.rankeval.quality import Quality, Ties, ranking_quality

if TYPE_CHECKING:
    import pandas as pd

    from tsadeval.rankeval.suites.paper import PaperSuite, Task


class Rankings:
    """All values of one plan, by metric, as arrays over (case, sigma, q, p, repeat)."""

    def __init__(self, plan: PaperSuite, frame: pd.DataFrame) -> None:
        self.plan = plan
        self._by = dict(list(frame.groupby(["metric", "generator"], sort=False)))
        self._weights = resample(len(plan.cases), 2000 if len(plan.cases) > 1 else 0)

    def values(self, metric: Metric, task: Task) -> Floats:
        """The mean over repeats, of shape (case, sigma, fixed, by); NaN where any repeat is missing or undefined."""
        generator = GENERATORS[task.generator]
        axes: dict[str, tuple[Any, ...]] = {
            "case": self.plan.cases,
            "sigma": self.plan.sigmas,
            "q": generator.q,
            "p": generator.p,
            "repeat": tuple(range(self.plan.repeats)),
        }
        found = np.full([len(along) for along in axes.values()], np.nan)
        rows = self._by.get((str(metric), task.generator))
        if rows is not None:
            found[tuple(_positions(rows[name].tolist(), along) for name, along in axes.items())] = rows["value"]
        mean = found.mean(axis=-1)
        return mean if task.by == "p" else np.swapaxes(mean, 2, 3)

    def quality(self, metric: Metric, task: Task, ties: Ties) -> Quality:
        """The quality of every ranking, of shape (case, sigma, fixed)."""
        values = self.values(metric, task)
        generator = GENERATORS[task.generator]
        worth = np.array(generator.q if task.by == "q" else generator.p, np.float64)
        sign = 1.0 if metric.direction == "higher" else -1.0
        flat = ranking_quality(
            sign * values.reshape(-1, len(worth)), worth if task.better == "higher" else -worth, ties=ties
        )
        return Quality(*(found.reshape(values.shape[:-1]) for found in flat))

    def by_sigma(self, quality: Floats) -> Floats:
        """Estimates of shape (1 + resamples, sigma): means over cases and fixed values, at each sigma."""
        known = np.isfinite(quality)
        sums, counts = np.where(known, quality, 0.0).sum(axis=2), known.sum(axis=2)
        with np.errstate(invalid="ignore"):
            return np.asarray((self._weights @ sums) / (self._weights @ counts))

    def counts(self, metric: Metric) -> dict[str, Any]:
        """Values there are and should be, those undefined, errors and the first message; series without any alarm."""
        generators = dict.fromkeys(task.generator for task in self.plan.tasks)
        models = sum(len(GENERATORS[g].q) * len(GENERATORS[g].p) for g in generators)
        planned = len(self.plan.cases) * len(self.plan.sigmas) * self.plan.repeats * models
        rows = [self._by[str(metric), g] for g in generators if (str(metric), g) in self._by]
        status = [s for part in rows for s in part["status"].tolist()]
        said = [m for part in rows for m in part["message"].tolist()]
        first = next((m for kind in ("error", "undefined") for s, m in zip(status, said, strict=True) if s == kind), "")
        alarms = [a for part in rows for a in part["alarmed_points"].tolist()]
        return {
            "values": status.count("ok"),
            "planned": planned,
            "undefined": status.count("undefined"),
            "errors": status.count("error"),
            "message": first,
            "own": not metric.library,
            "empty": sum(a == 0 for a in alarms) / max(len(alarms), 1) if metric.kind == "predictions" else None,
        }


def _positions(values: list[Any], along: tuple[Any, ...]) -> np.ndarray[Any, np.dtype[np.int64]]:
    places = {value: i for i, value in enumerate(along)}
    missing = places.get(None, -1)  # a parameter that the generator does not have is NaN in a frame
    return np.array([missing if value != value else places[value] for value in values], np.int64)
