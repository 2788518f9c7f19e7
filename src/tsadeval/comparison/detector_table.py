"""Tables of detectors by metrics with the best values marked, as text and as LaTeX."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tsadeval.comparison.paired import Floats
from tsadeval.comparison.statistics import Ranking
from tsadeval.core.facts import Flaw, finite_mean
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.names import check_known
from tsadeval.core.results import NONE, Grid, Result, cell_text, latex_text
from tsadeval.core.selection import AnyMetric, ByMetric, find_metric

Values = dict[str, dict[str, float]]
Blocks = Sequence[Sequence[Sequence[str]]]  # of rows of cells, with rules between them
PRINTED = (2, 4)  # digits of percents and of other numbers


class DetectorTable(Result, Mapping[str, dict[str, float]]):
    """Detectors by metrics: a row per detector and metric; as a mapping, detector to its values by metric.

    It is printed with a row per detector and a column per metric, whatever their numbers. `percent` shows values times
    100 as papers print them (only of metrics that are at most 1); what the mapping and `rows` give are the values
    themselves. `by_series` has for each metric the values that a table of averages stands on (series by detectors,
    larger is better), which LaTeX tests for significance, `flaws` why some are never first by a metric, and `remarks`
    gives what a reader of the values has to know, for the comments of LaTeX.
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
        flaws: Callable[[str], Sequence[Flaw | None]] | None = None,
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
        self.flaws = flaws or (lambda metric: [None] * len(values))
        self._remarks = remarks

    def __getitem__(self, detector: str) -> dict[str, float]:
        """Return the values of a detector, by its name or by what the printed table calls it."""
        keys = {**{self._titles.get(key, key): key for key in self}, **{key: key for key in self}}
        check_known(detector, keys, "detector", "this table")
        return ByMetric(self._values[keys[detector]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def best(self, metric: AnyMetric) -> list[str]:
        """Return the detectors with the best value of a metric, of those that can be first; several if equal."""
        metric = find_metric(metric, self.metrics, "this table")
        sign = -1 if metric in self._lower else 1
        known = {
            d: sign * found[metric]
            for (d, found), flaw in zip(self._values.items(), self.flaws(metric), strict=True)
            if math.isfinite(found[metric]) and flaw is None
        }
        most = max(known.values(), default=math.nan)
        return [d for d, value in known.items() if value == most]

    def _starred(self) -> list[list[str]]:
        """Return the rows as people read them, with a star at the best values."""
        best = {metric: set(self.best(metric)) for metric in self.metrics}
        best = {metric: names if len(names) < len(self) else set() for metric, names in best.items()}  # all: no mark
        flaws = {metric: self.flaws(metric) for metric in self.metrics}
        style = Style(self.percent, places=PRINTED)
        rows = []
        for j, (detector, found) in enumerate(self._values.items()):
            row = [self._titles.get(detector, detector)]
            for metric in self.metrics:
                # A blank where the star would be keeps the digits under each other.
                mark = "*" if detector in best[metric] else "!" if flaws[metric][j] else " "
                row.append(style.text(metric, found[metric], write=cell_text) + mark)
            rows.append(row)
        return rows

    def to_latex(self, *, digits: int | None = None, alpha: float = 0.05) -> str:
        """Write a tabular (booktabs) with the best values in bold and the second best underlined.

        In a table of averages over several series, a dagger marks detectors that Wilcoxon-Holm tests over the series do
        not tell apart from the best at level `alpha`.
        """
        found = stacked([self], Style(self.percent, digits, alpha=alpha, places=PRINTED))
        return wrapped(*found, alpha, self._remarks() if self._remarks else [])

    def latex_blocks(self, style: "Style") -> tuple[Blocks, list[Ranking]]:
        """Return the head and the rows, and the tests behind their marks."""
        columns, tests = [], []
        for metric in self.metrics:
            values = np.array([found[metric] for found in self._values.values()])
            by_series = np.empty((0, len(values))) if self._by_series is None else self._by_series(metric)
            flaws = self.flaws(metric)
            tests.append(Ranking(by_series, flaws, draws=1))
            better = -values if metric in self._lower else values
            columns.append(marked(style.texts(metric, values, by_series), better, flaws, tests[-1].alike(style.alpha)))
        names = [latex_text(self._titles.get(detector, detector)) for detector in self]
        head = [latex_text(text) for text in [self.title or "Detector", *metric_labels(self.metrics).values()]]
        return [[head], list(zip(names, *columns, strict=True))], tests

    def _grid(self) -> Grid:
        lines: Grid = [[self.title or "detector", *self.metrics], *self._starred()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return [[row[0], *(t.rjust(w) for t, w in zip(row[1:], widths[1:], strict=True))] for row in lines]


def stacked(tables: Sequence[DetectorTable], style: "Style") -> tuple[str, list[Ranking]]:
    """Put tables of the same metrics under each other, in one tabular; also returns the tests behind its marks."""
    parts = [table.latex_blocks(style) for table in tables]
    return tabular([block for blocks, _ in parts for block in blocks]), [test for _, some in parts for test in some]


# LaTeX tables of comparisons: best, second best, and what is not told apart from the best.

DAGGER = r"$^{\dagger}$"


class Style(NamedTuple):
    """How numbers are printed; `places` are the digits by default, of percents and of other numbers."""

    percent: bool
    digits: int | None = None
    spread: bool = False
    alpha: float = 0.05
    places: tuple[int, int] = (1, 3)

    def text(
        self, metric: str, value: float, spread: float | None = None, write: Callable[..., str] = latex_text
    ) -> str:
        """Write a value, and its spread where it is wanted; a missing one is a dash."""
        if math.isnan(value):
            return write(NONE)
        record = METRICS.get(metric.partition("(")[0])
        scaled = self.percent and record is not None and record.range[1] <= 1
        places = self.digits if self.digits is not None else self.places[not scaled]
        shown = write(round(100 * value if scaled else value, places) + 0.0, places)  # never -0.0000
        if spread is None:
            return shown
        return rf"{shown} $\pm$ {cell_text(100 * spread if scaled else spread, places)}"

    def texts(self, metric: str, means: Floats, by_series: Floats) -> list[str]:
        """Write the means of a metric, each with its spread over series where that is wanted."""
        known = [column[np.isfinite(column)] for column in by_series.T]
        spreads = [float(np.std(column, ddof=1)) if self.spread and len(column) > 1 else None for column in known]
        return [self.text(metric, value, spread) for value, spread in zip(means.tolist(), spreads, strict=True)]


def marked(texts: Sequence[str], better: Floats, flaws: Sequence[Flaw | None], same: Sequence[bool]) -> list[str]:
    """Bold for the best, a line under the second best, a dagger for those that are not told apart from the best."""
    values = [value for value in better.tolist() if not math.isnan(value)]
    known = sorted(
        {value for value, flaw in zip(better.tolist(), flaws, strict=True) if flaw is None and value == value}
    )
    several, found = len(set(values)), []
    for text, value, flaw, alike in zip(texts, better.tolist(), flaws, same, strict=True):
        first, second = (flaw is None and [value] == known[place : place + 1 or None] for place in (-1, -2))
        if several > 1 and first:
            text = rf"\textbf{{{text}}}"
        elif several > 2 and second:
            text = rf"\underline{{{text}}}"
        found.append(text + (DAGGER if alike and not math.isnan(value) and not first else ""))
    return found


def wrapped(
    body: str,
    tests: Sequence[Ranking],
    alpha: float,
    remarks: Sequence[str],
    *,
    caption: str = "",
    label: str = "",
    notes: bool = False,
    among: str = "column",
) -> str:
    """Add notes on the marks (`among` a column or row) and numbers: as comments, or with `notes` as text in a float."""
    tested = [one for one in tests if one.tested]
    about_tests = dict.fromkeys(filter(None, (one.tests.too_few(alpha) for one in tested)))
    lines = [_legend(body, tested, alpha, among), *about_tests, *remarks]
    lines = [" ".join(line.split()) for line in lines]  # names may hold line breaks
    comments = [f"% {line}" for line in lines]
    if not (caption or label or notes):
        return "\n".join([body, *comments])
    above = [rf"\caption{{{caption}}}"] * bool(caption) + [rf"\label{{{label}}}"] * bool(label)
    shown = latex_text("; ".join(lines).replace("bold:", "Bold:", 1)).replace("dagger:", f"{DAGGER}:", 1)
    text = ["", r"\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {shown}.}}"]
    whole = [r"\begin{table}", r"\centering", *above, body, *(text if notes else []), r"\end{table}"]
    return "\n".join(whole if notes else [*whole, *comments])


def _legend(body: str, tested: Sequence[Ranking], alpha: float, among: str) -> str:
    """Say what the marks mean; "best" is a word about thresholds, so marks do without it."""
    text = f"bold: first in its {among}; underlined: second"
    how = f"by Wilcoxon-Holm tests over the series at {alpha:g}"
    tested = [one for one in tested if np.isfinite(one.first).any()]
    if not tested:
        return text
    if any(np.isinf(one.first).any() for one in tested):
        how = f"of those that can be first, {how}"
    if DAGGER in body:
        return f"{text}; dagger: not told apart from the detector with the lowest mean rank {how}"
    # Those that are not told apart share the first place, where there are any.
    others = "other detector" if all(sum(one.alike(alpha)) == 1 for one in tested) else "detector that is not first"
    return f"{text}; every {others} differs from the one with the lowest mean rank {how}"


def tabular(blocks: Blocks, words: int = 1) -> str:
    """Write blocks of rows with rules between them; the first is the head, and the first columns are words."""
    texts = ["\n".join(" & ".join(row) + r" \\" for row in block) for block in blocks]
    begin = rf"\begin{{tabular}}{{{'l' * words}{'r' * (len(blocks[0][0]) - words)}}}"
    return "\n".join([begin, r"\toprule", "\n\\midrule\n".join(texts), r"\bottomrule", r"\end{tabular}"])


def series_tabular(
    metric: str,
    better: Floats,
    flaws: Callable[[Sequence[int]], Sequence[Flaw | None]],
    series: Sequence[str],
    detectors: Sequence[str],
    style: Style,
    lower: bool,
) -> tuple[str, list[Ranking]]:
    """Make a tabular of series by detectors of one metric, the average last; also returns the test behind its marks."""
    sign = -1.0 if lower else 1.0
    nothing = [False] * len(detectors)
    texts = [[style.text(metric, sign * value) for value in row] for row in better.tolist()]
    marks = [marked(some, row, flaws([i]), nothing) for i, (some, row) in enumerate(zip(texts, better, strict=True))]
    rows = [[latex_text(name), *some] for name, some in zip(series, marks, strict=True)]
    means = sign * np.array([finite_mean(column) for column in better.T])
    overall = flaws(range(len(series)))
    test = Ranking(better, overall, draws=1)
    average = ["average", *marked(style.texts(metric, means, better), sign * means, overall, test.alike(style.alpha))]
    head = [latex_text(metric_labels([metric])[metric]), *map(latex_text, detectors)]
    return tabular([[head], rows, [average]]), [test]
