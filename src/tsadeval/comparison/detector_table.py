"""Tables of detectors by metrics with the best values marked, as text and as LaTeX."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.comparison.statistics import Floats
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.names import did_you_mean
from tsadeval.core.results import NONE, Grid, Result, cell_text, latex_text
from tsadeval.core.selection import AnyMetric, ByMetric, find_metric
from tsadeval.errors import UnknownNameError

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
        return ByMetric(self._values[keys[detector]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def best(self, metric: AnyMetric) -> list[str]:
        """The detectors with the best value of a metric; several where they are equal."""
        metric = find_metric(metric, self.metrics, "this table")
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


# LaTeX tables of comparisons: best, second best, and what is not told apart from the best.


DAGGER = r"$^{\dagger}$"


class Style(NamedTuple):
    """How numbers are printed; `lower` are the metrics of which less is better."""

    percent: bool
    digits: int | None
    spread: bool
    alpha: float
    lower: frozenset[str]

    def text(self, metric: str, value: float, spread: float | None = None) -> str:
        """A value, and its spread where it is wanted; a missing one is a dash."""
        if math.isnan(value):
            return latex_text(value)
        record = METRICS.get(metric.partition("(")[0])
        scaled = self.percent and record is not None and record.range[1] <= 1
        places = self.digits if self.digits is not None else 1 if scaled else 3
        shown = latex_text(round(100 * value if scaled else value, places) + 0.0, places)
        if spread is None:
            return shown
        return rf"{shown} $\pm$ {cell_text(100 * spread if scaled else spread, places)}"

    def texts(self, metric: str, better: Floats, means: Floats) -> list[str]:
        """The means of a metric, each with its spread where that is wanted."""
        spreads = _deviation(better) if self.spread else [None] * len(means)
        return [self.text(metric, value, spread) for value, spread in zip(means.tolist(), spreads, strict=True)]


def marked(texts: Sequence[str], better: Floats, same: Sequence[bool]) -> list[str]:
    """Bold for the best, a line under the second best, a dagger for those that are not told apart from the best."""
    known = sorted({value for value in better.tolist() if not math.isnan(value)}, reverse=True)
    found = []
    for text, value, alike in zip(texts, better.tolist(), same, strict=True):
        if len(known) > 1 and value == known[0]:
            text = rf"\textbf{{{text}}}"
        elif len(known) > 2 and value == known[1]:
            text = rf"\underline{{{text}}}"
        found.append(text + (DAGGER if alike and not math.isnan(value) and value != known[0] else ""))
    return found


class Alike(NamedTuple):
    """Which detectors the test does not tell apart from the one with the lowest mean rank, and what is to be said."""

    same: list[bool]
    tested: bool = False
    remark: str = ""
    apart: bool = False  # all others differ from that detector


def not_told_apart(better: Floats, alpha: float) -> Alike:
    """By Wilcoxon-Holm tests over the series (rows); with one series there is no test."""
    found = statistics.Ranking(better, draws=1)
    if not found.tested:
        return Alike([False] * found.detectors)
    alike = found.tests.same(alpha)[found.first].tolist()
    return Alike(found.for_all(alike, False), True, found.tests.too_few(alpha), sum(alike) == 1)


class Wrap(NamedTuple):
    """What surrounds a tabular: caption and label of a float, and whether the notes are text instead of comments.

    `among` says whether marks compare the values of a column or of a row.
    """

    caption: str = ""
    label: str = ""
    notes: bool = False
    among: str = "column"


def wrapped(tabular: str, tests: Sequence[Alike], alpha: float, remarks: Sequence[str], wrap: Wrap) -> str:
    """A tabular with notes on its marks and its numbers: as comments under it, or as text in a float."""
    about_tests = dict.fromkeys(one.remark for one in tests if one.remark)
    lines = [_legend(tabular, tests, alpha, wrap.among), *about_tests, *remarks]
    lines = [" ".join(line.split()) for line in lines]  # names may hold line breaks
    comments = [f"% {line}" for line in lines]
    if not (wrap.caption or wrap.label or wrap.notes):
        return "\n".join([tabular, *comments])
    caption = [rf"\caption{{{wrap.caption}}}"] * bool(wrap.caption) + [rf"\label{{{wrap.label}}}"] * bool(wrap.label)
    shown = latex_text("; ".join(lines).replace("bold:", "Bold:", 1)).replace("dagger:", f"{DAGGER}:", 1)
    text = ["", r"\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {shown}.}}"]
    below = text if wrap.notes else []
    whole = [r"\begin{table}", r"\centering", *caption, tabular, *below, r"\end{table}"]
    return "\n".join(whole if wrap.notes else [*whole, *comments])


def _legend(tabular: str, tests: Sequence[Alike], alpha: float, among: str) -> str:
    """What the marks mean; they say nothing of thresholds, so the word "best" is left to these."""
    text = f"bold: first in its {among}; underlined: second"
    how = f"by Wilcoxon-Holm tests over the series at {alpha:g}"
    tested = [one for one in tests if one.tested]
    if tested and DAGGER not in tabular and all(one.apart for one in tested):
        return f"{text}; every other detector differs from the one with the lowest mean rank {how}"
    if tested and DAGGER not in tabular:  # those that are not told apart share the first place
        return f"{text}; every detector that is not first differs from the one with the lowest mean rank {how}"
    if tested:
        text += f"; dagger: not told apart from the detector with the lowest mean rank {how}"
    return text


def _mean(better: Floats) -> Floats:
    known = np.isfinite(better)
    count = known.sum(axis=0)
    total = np.where(known, better, 0.0).sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), math.nan)


def _deviation(better: Floats) -> list[float | None]:
    """The standard deviation over series of each detector that has values on two at least."""
    known = [column[np.isfinite(column)] for column in better.T]
    return [float(np.std(column, ddof=1)) if len(column) > 1 else None for column in known]


def _tabular(head: Sequence[str], rows: Sequence[Sequence[str]], rules: frozenset[int] = frozenset()) -> str:
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", r"\toprule", " & ".join(head) + r" \\", r"\midrule"]
    for i, row in enumerate(rows):
        lines += [r"\midrule"] * (i in rules) + [" & ".join(row) + r" \\"]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def metrics_tabular(matrices: Mapping[str, Floats], detectors: Sequence[str], style: Style) -> tuple[str, list[Alike]]:
    """Detectors by metrics, averaged over series, and the tests behind the marks."""
    columns, tests = [], []
    for metric, better in matrices.items():
        means = _mean(better)
        sign = -1.0 if metric in style.lower else 1.0
        texts = style.texts(metric, better, sign * means)
        tests.append(not_told_apart(better, style.alpha))
        columns.append(marked(texts, means, tests[-1].same))
    head = ["Detector", *(latex_text(label) for label in metric_labels(list(matrices)).values())]
    rows = [[latex_text(name), *(c[i] for c in columns)] for i, name in enumerate(detectors)]
    return _tabular(head, rows), tests


def series_tabular(
    metric: str, better: Floats, series: Sequence[str], detectors: Sequence[str], style: Style
) -> tuple[str, list[Alike]]:
    """Series by detectors of one metric, the average last, and the test behind its marks."""
    sign = -1.0 if metric in style.lower else 1.0
    nothing = [False] * len(detectors)
    rows = []
    for name, row in zip(series, better, strict=True):
        rows.append([latex_text(name), *marked([style.text(metric, sign * v) for v in row.tolist()], row, nothing)])
    means = _mean(better)
    texts = style.texts(metric, better, sign * means)
    test = not_told_apart(better, style.alpha)
    rows.append(["average", *marked(texts, means, test.same)])
    head = [latex_text(metric_labels([metric])[metric]), *map(latex_text, detectors)]
    return _tabular(head, rows, frozenset({len(series)})), [test]
