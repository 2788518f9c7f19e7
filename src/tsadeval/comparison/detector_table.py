"""Tables of detectors by metrics with the best values marked, as text and as LaTeX."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from tsadeval.comparison.paired import bootstrap
from tsadeval.comparison.statistics import CHECKS, Ranking
from tsadeval.core.events import Floats
from tsadeval.core.facts import Flaw, NoInterval
from tsadeval.core.messages import interval_notes
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.names import check_known
from tsadeval.core.parameters import check_parameters
from tsadeval.core.results import NONE, Grid, Result, Row, cell_text, latex_text
from tsadeval.core.selection import AnyMetric, ByMetric, find_metric

Values = dict[str, dict[str, float]]
Blocks = Sequence[Sequence[Sequence[str]]]  # of rows of cells, with rules between them
FEWEST = 5  # series, from which on means have intervals
PRINTED = (2, 4)  # digits of percents and of other numbers


class DetectorTable(Result, Mapping[str, dict[str, float]]):
    """Detectors by metrics: a row per detector and metric; as a mapping, detector to its values by metric.

    It is printed with a row per detector and a column per metric, whatever their numbers. `percent` shows values times
    100 as papers print them (only of metrics that are at most 1); what the mapping and `rows` give are the values
    themselves. `by_series` has for each metric the values that a table of averages stands on (series by detectors,
    larger is better), which LaTeX tests for significance, `flaws` why some are never first by a metric, `remarks`
    gives what a reader of the values has to know, for the comments of LaTeX, and `beside` has values of baselines,
    which are shown without marks below the others.
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
        beside: Values | None = None,
        interval: float | None = None,
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
        self.beside = beside or {}
        self._ends: dict[tuple[str, str], tuple[float | None, float | None]] = {}
        if interval is not None:
            self._add_intervals(interval)

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

    def _add_intervals(self, level: float) -> None:
        """Add the ends of the bootstrap interval over series to the row of each mean; none over too few series."""
        places = {detector: j for j, detector in enumerate(self)}
        for row in self.rows:
            known = self._by_series(row["metric"])[:, places[row["detector"]]] if self._by_series else np.empty(0)
            known = known[np.isfinite(known)] * (-1 if row["metric"] in self._lower else 1)
            found = bootstrap(known, level, 2000, 0)
            ends = (float(found.low), float(found.high)) if len(known) >= FEWEST else (None, None)
            row["low"], row["high"] = self._ends[row["detector"], row["metric"]] = ends
            row |= {"interval": level, "no_interval": NoInterval.SERIES if ends[0] is None else None}

    def _interval(self, detector: str, metric: str, style: "Style", write: Callable[..., str]) -> str:
        """Return the interval of a mean as text, "" where there is none."""
        ends = [end for end in self._ends.get((detector, metric), ()) if end is not None]
        return f" [{', '.join(style.text(metric, end, write=write) for end in ends)}]" if ends else ""

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
                ends = self._interval(detector, metric, style, cell_text)
                row.append(style.text(metric, found[metric], write=cell_text) + ends + mark)
            rows.append(row)
        return rows + self.unmarked(style, lambda *of: f"{cell_text(*of)} ", str)

    def unmarked(self, style: "Style", write: Callable[..., str], name: Callable[[str], str]) -> list[list[str]]:
        """Return the rows of the baselines."""
        return [
            [name(which), *(style.text(metric, found[metric], write=write) for metric in self.metrics)]
            for which, found in self.beside.items()
        ]

    def to_latex(self, *, digits: int | None = None, alpha: float = 0.05) -> str:
        """Write a tabular (booktabs) with the best values in bold and the second best underlined.

        In a table of averages over several series, a dagger marks all detectors that are not significantly different
        from the bold one, itself included, by Wilcoxon-Holm tests over the series at level `alpha`.
        """
        check_parameters("to_latex", CHECKS, {"alpha": alpha})
        style = Style(self.percent, digits, alpha=alpha)  # with intervals numbers are as short as in other tables
        found = stacked([self], style if self._ends else style._replace(places=PRINTED))
        return wrapped(*found, alpha, [*self._notes(), *(self._remarks() if self._remarks else [])])

    def latex_column(self, metric: str, style: "Style") -> tuple[list[str], Ranking]:
        """Return the values of a metric with their marks, one of each detector, and the test behind these."""
        values = np.array([found[metric] for found in self._values.values()])
        by_series = np.empty((0, len(values))) if self._by_series is None else self._by_series(metric)
        flaws = self.flaws(metric)
        test = Ranking(by_series, flaws, draws=1)
        better = -values if metric in self._lower else values
        return marked(style.texts(metric, values, by_series), better, flaws, test, style.alpha), test

    def latex_rows(self, columns: Iterable[Sequence[str]], style: "Style") -> list[Sequence[str]]:
        """Return the rows of detectors, with a line of intervals below each, which beside the values would be wide."""
        rows = zip(self.latex_names, *columns, strict=True)
        ends = ([self._interval(name, metric, style, latex_text) for metric in self.metrics] for name in self)
        lines = ([r"\addlinespace[-3pt]", *(rf"\scriptsize{end}" for end in some)] for some in ends)
        return list(chain(*zip(rows, lines, strict=True)) if self._ends else rows)

    @property
    def latex_names(self) -> list[str]:
        """The detectors as LaTeX calls them."""
        return [latex_text(self._titles.get(detector, detector)) for detector in self]

    def _notes(self) -> list[str]:
        shown = {f"{100 * row['interval']:g} %" for row in self.rows if row.get("low") is not None}
        return [
            *(f"in brackets: {level} bootstrap intervals over series" for level in shown),
            *interval_notes(self.rows),
        ]

    def _grid(self) -> Grid:
        lines: Grid = [[self.title or "detector", *self.metrics], *self._starred()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return [[row[0], *(t.rjust(w) for t, w in zip(row[1:], widths[1:], strict=True))] for row in lines]


def stacked(tables: Sequence[DetectorTable], style: "Style") -> tuple[str, list[Ranking]]:
    """Put tables of the same metrics under each other, in one tabular; also returns the tests behind its marks."""
    head = [tables[0].title or "Detector", *metric_labels(tables[0].metrics).values()]
    blocks: list[Sequence[Sequence[str]]] = []
    tests: list[Ranking] = []
    for table in tables:
        columns, own = zip(*(table.latex_column(metric, style) for metric in table.metrics), strict=True)
        title = rf"\multicolumn{{{len(head)}}}{{l}}{{\emph{{{latex_text(table.title)}}}}}"
        blocks.append([*[[title]] * (len(tables) > 1), *table.latex_rows(columns, style)])
        blocks += [table.unmarked(style, latex_text, latex_text)] if table.beside else []
        tests += own
    head[0] = "Detector" if len(tables) > 1 or tables[0]._ends else head[0]
    apart = NARROW * (bool(tables[0]._ends) or len(head) > MANY)
    return tabular([[[latex_text(text) for text in head]], *blocks], apart=apart), tests


def random_errors(rows: Iterable[Row], groups: Collection[Sequence[str]], metrics: Iterable[str]) -> dict[str, float]:
    """Return the standard errors of the row of random scores, means over groups of means over series, by metric."""
    squares = {(row["series"], row["metric"]): row["random_error"] ** 2 for row in rows if "random_error" in row}

    def of_mean(values: Iterable[float]) -> float:  # the square of the error
        known = [value for value in values if math.isfinite(value)]
        return math.fsum(known) / len(known) ** 2 if known else math.nan

    return {m: math.sqrt(of_mean(of_mean(squares[s, m] for s in some) for some in groups)) for m in metrics}


# LaTeX tables of comparisons: best, second best, and what is not told apart from the best.

DAGGER = r"$^{\dagger}$"
NARROW, MANY = r"@{\enspace}", 9  # between columns that would be wider than print: with intervals, or so many
BESIDE = rf"\rlap{{{DAGGER}}}"  # of no width, so that digits stay under each other


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


def marked(
    texts: Sequence[str], better: Floats, flaws: Sequence[Flaw | None], test: Ranking, alpha: float
) -> list[str]:
    """Bold for the best, a line under the second, a dagger for all that do not differ from the best, itself too."""
    values = better.tolist()
    known = sorted({value for value, flaw in zip(values, flaws, strict=True) if flaw is None and value == value})
    several = len({value for value in values if value == value})
    first = [several > 1 and flaw is None and [value] == known[-1:] for value, flaw in zip(values, flaws, strict=True)]
    alike = test.alike(alpha, first.index(True)) if any(first) else [False] * len(values)
    found = []
    for text, value, flaw, leads, same in zip(texts, values, flaws, first, alike, strict=True):
        if leads:
            text = rf"\textbf{{{text}}}"
        elif several > 2 and flaw is None and [value] == known[-2:-1]:
            text = rf"\underline{{{text}}}"
        found.append(text + (BESIDE if same and not math.isnan(value) else ""))
    return found


def wrapped(
    body: str,
    tests: Sequence[Ranking],
    alpha: float,
    remarks: Sequence[str],
    *,
    caption: str = "",
    label: str = "",
    note: str | None = None,
    among: str = "column",
) -> str:
    """Put a tabular into a float where it has a caption, label or note, and say in comments what its numbers are.

    The caption ends with the sentence about the marks (`among` a column or row); the note stands under the tabular.
    """
    legend = _legend(body, [one for one in tests if one.tested and np.isfinite(one.first).any()], alpha, among)
    about_tests = dict.fromkeys(filter(None, (one.tests.too_few(alpha) for one in tests if one.tested)))
    comments = [
        f"% {' '.join(line.split())}" for line in (legend, *about_tests, *remarks)
    ]  # names may hold line breaks
    if caption or label or note is not None:
        end = ("" if caption.endswith((".", "!", "?")) else ".") * bool(caption)
        said = " ".join(filter(None, [caption + end, latex_text(legend).replace("dagger", DAGGER, 1)]))
        above = [rf"\caption{{{said}.}}", *[rf"\label{{{label}}}"] * bool(label)]
        shown = ["", r"\smallskip", rf"\parbox{{\linewidth}}{{\footnotesize {latex_text(note)}.}}"] if note else []
        # Over both columns of print, and small, where one is too narrow; where there is but one, table* is table.
        wide = "*" * (body.partition(r"\\")[0].count(" & ") > (3 if NARROW in body else 4))
        above += [r"\small"] * bool(wide)
        body = "\n".join([rf"\begin{{table{wide}}}", r"\centering", *above, body, *shown, rf"\end{{table{wide}}}"])
    return "\n".join([body, *comments])


def _legend(body: str, tested: Sequence[Ranking], alpha: float, among: str) -> str:
    """Say what the marks mean; "best" is a word about thresholds, so marks do without it."""
    text = f"Bold: first in its {among}; underlined: second"
    if BESIDE not in body:
        return text
    sizes = {one.means.series for one in tested}
    over = f"{sizes.pop()} series" if len(sizes) == 1 else "the series of each average"
    few = [one for one in tested if one.tests.needed(alpha)]
    some = " in some averages" * (len(few) < len(tested))
    return (
        f"{text}; dagger: not significantly different from the bold one, itself included (Wilcoxon signed-rank tests "
        f"with Holm's correction over {over}, at {alpha:g}" + f"; too few for any difference{some}" * bool(few) + ")"
    )


def tabular(blocks: Blocks, words: int = 1, apart: str = "") -> str:
    """Write blocks of rows with rules between them; the first is the head, and the first columns are words.

    `apart` stands between columns, in place of the space of LaTeX, which then has none at the sides either.
    """
    texts = ["\n".join(" & ".join(row) + r" \\" for row in block) for block in blocks]
    side, numbers = "@{}" * bool(apart), f"{apart}r" * (len(blocks[0][0]) - words)
    begin = rf"\begin{{tabular}}{{{side}{'l' * words}{numbers}{side}}}"
    return "\n".join([begin, r"\toprule", "\n\\midrule\n".join(texts), r"\bottomrule", r"\end{tabular}"])


def series_tabular(metric: str, tables: Sequence[DetectorTable], style: Style) -> tuple[str, list[Ranking]]:
    """Make a tabular of tables by detectors of one metric, the average last; also returns the tests behind marks."""
    columns, tests = zip(*(table.latex_column(metric, style) for table in tables), strict=True)
    rows = [[latex_text(table.title), *texts] for table, texts in zip(tables, columns, strict=True)]
    return tabular(
        [[[latex_text(metric_labels([metric])[metric]), *tables[0].latex_names]], rows[:-1], rows[-1:]],
        apart=NARROW * (len(tables[0]) >= MANY),
    ), list(tests)
