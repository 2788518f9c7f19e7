"""Tables of detectors by metrics, with the best values marked."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import numpy as np

from tsadeval.comparison.latex import Alike, Wrap, marked, not_told_apart, wrapped
from tsadeval.comparison.statistics import Floats
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.registry import did_you_mean
from tsadeval.core.results import NONE, Grid, Result, cell_text, latex_text
from tsadeval.errors import UnknownNameError

__all__ = ["DetectorTable", "Values", "stacked"]

Values = dict[str, dict[str, float]]


class DetectorTable(Result, Mapping[str, dict[str, float]]):
    """Detectors by metrics: a row per detector and metric; as a mapping, detector to its values by metric.

    It is printed with a row per detector and a column per metric, whatever their numbers. `percent` shows values times
    100 as papers print them (only of metrics that are at most 1); what the mapping and `rows` give are the values
    themselves. `by_series` has for each metric the values that a table of averages stands on (series by detectors,
    larger is better), which LaTeX tests for significance, and `remarks` gives what a reader of the values has to
    know, for the comments of LaTeX.
    """

    def __init__(
        self,
        values: Values,
        *,
        title: str = "",
        titles: Mapping[str, str] | None = None,
        percent: bool = False,
        lower: Iterable[str] = (),
        by_series: Callable[[str], Floats] | None = None,
        remarks: Callable[[], list[str]] | None = None,
    ) -> None:
        super().__init__(
            [{"detector": d, "metric": m, "value": v} for d, found in values.items() for m, v in found.items()]
        )
        self.title = title
        self.percent = percent
        self.metrics = list(next(iter(values.values())))
        self._values = values
        self._titles = dict(titles or {})
        self._lower = set(lower)
        self._by_series = by_series
        self._remarks = remarks

    def __getitem__(self, detector: str) -> dict[str, float]:
        """The values of a detector, by its name or by what the printed table calls it."""
        keys = {**{self._titles.get(key, key): key for key in self}, **{key: key for key in self}}
        if detector not in keys:
            raise UnknownNameError(f"no detector {detector!r} in this table: {did_you_mean(detector, list(keys))}")
        return dict(self._values[keys[detector]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def best(self, metric: str) -> list[str]:
        """The detectors with the best value of a metric; several where they are equal."""
        if metric not in self.metrics:
            raise UnknownNameError(f"no metric {metric!r} in this table: {did_you_mean(metric, self.metrics)}")
        sign = -1 if metric in self._lower else 1
        known = {d: sign * found[metric] for d, found in self._values.items() if math.isfinite(found[metric])}
        return [d for d, value in known.items() if value == max(known.values())]

    def _starred(self) -> list[list[str]]:
        """The rows as people read them, with a star at the best values."""
        best = {metric: self.best(metric) for metric in self.metrics}
        best = {metric: names if len(names) < len(self) else [] for metric, names in best.items()}  # all equal: no mark
        rows = []
        for detector, found in self._values.items():
            row = [self._titles.get(detector, detector)]
            for metric in self.metrics:
                # A blank where the star would be keeps the digits under each other.
                row.append(self._text(metric, found[metric], None) + ("*" if detector in best[metric] else " "))
            rows.append(row)
        return rows

    def _text(self, metric: str, value: float, digits: int | None, text: Callable[..., str] = cell_text) -> str:
        if math.isnan(value):
            return text(NONE)
        record = METRICS.get(metric.partition("(")[0])
        scaled = self.percent and record is not None and record.range[1] <= 1
        places = digits if digits is not None else 2 if scaled else 4
        return text(round(100 * value if scaled else value, places) + 0.0, places)  # never -0.0000

    def to_latex(self, *, digits: int | None = None, alpha: float = 0.05) -> str:
        """A tabular (booktabs) with the best values in bold and the second best underlined.

        In a table of averages over several series, a dagger marks detectors that Wilcoxon-Holm tests over the series do
        not tell apart from the best at level `alpha`.
        """
        return wrapped(*stacked([self], digits, alpha), alpha, self._remarks() if self._remarks else [], Wrap())

    def latex_lines(self, digits: int | None = None, alpha: float = 0.05) -> tuple[list[str], list[Alike]]:
        """Head, rule and rows, without the tabular around them, and the tests behind their marks."""
        columns, tests = [], []
        for metric in self.metrics:
            values = [found[metric] for found in self._values.values()]
            better = np.array(values) * (-1.0 if metric in self._lower else 1.0)
            test = Alike([False] * len(values))
            if self._by_series is not None:
                test = not_told_apart(self._by_series(metric), alpha)
            texts = [self._text(metric, value, digits, latex_text) for value in values]
            columns.append(marked(texts, better, test.same))
            tests.append(test)
        names = [latex_text(self._titles.get(detector, detector)) for detector in self]
        head = [latex_text(text) for text in [self.title or "Detector", *metric_labels(self.metrics).values()]]
        rows = [" & ".join(row) + r" \\" for row in zip(names, *columns, strict=True)]
        return [" & ".join(head) + r" \\", r"\midrule", *rows], tests

    def _grid(self) -> Grid:
        lines: Grid = [[self.title or "detector", *self.metrics], *self._starred()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return [[row[0], *(t.rjust(w) for t, w in zip(row[1:], widths[1:], strict=True))] for row in lines]


def stacked(tables: Sequence[DetectorTable], digits: int | None, alpha: float) -> tuple[str, list[Alike]]:
    """Tables of the same metrics under each other, in one tabular, and the tests behind its marks."""
    lines: list[str] = []
    tests: list[Alike] = []
    for table in tables:
        rows, found = table.latex_lines(digits, alpha)
        lines += [r"\midrule"] * bool(lines) + rows
        tests += found
    spec = "l" + "r" * len(tables[0].metrics)
    text = "\n".join([rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"])
    return text, tests
