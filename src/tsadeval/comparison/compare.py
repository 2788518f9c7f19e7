"""Many detectors side by side, on one series or on many: tables with the best in bold, and their averages."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tsadeval._optional import require
from tsadeval.core.metric import METRICS
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.registry import did_you_mean
from tsadeval.core.results import Row, cell_text, latex_text, plain, text_table
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.evaluation.many import SeriesResult, evaluate_many
from tsadeval.evaluation.single import AnyMetric
from tsadeval.plot.style import looks
from tsadeval.thresholds.rules import Threshold, parse_threshold

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Comparison", "DetectorTable", "compare"]

Values = dict[str, dict[str, float]]
Run = tuple[str, str, Any, Any]

AVERAGE = "average"
# With more series than this, a comparison prints averages over data sets instead of every series.
MANY = 12


def compare(
    scores: Mapping[str, Any] | Iterable[Run] | str | Path,
    y_true: Any = None,
    metrics: AnyMetric | Iterable[AnyMetric] = "paper",
    *,
    threshold: str | Threshold = "quantile(0.95)",
) -> Comparison:
    """Judge several detectors with several metrics.

    Parameters
    ----------
    scores : mapping, iterable or path
        Detector to scores of one series; or any iterable of `(series, detector, y_true, y_score)`, for many series;
        or the store of `te.detect`, whose kept scores are judged anew.
    y_true : array-like of shape (n,), optional
        The labels, where `scores` is a mapping.
    metrics, threshold
        As for `evaluate`; the threshold is found for each scoring by itself.

    Returns
    -------
    Comparison
        Printed, it is its tables; `table(series)`, `average()`, `to_frame`, `to_latex`.

    Examples
    --------
    >>> import tsadeval as te
    >>> y_true = [0, 0, 1, 1, 0, 0, 0, 0]
    >>> good, poor = [0.1, 0.2, 0.9, 0.8, 0.1, 0.3, 0.2, 0.1], [0.5, 0.6, 0.4, 0.7, 0.5, 0.5, 0.6, 0.5]
    >>> te.compare({"good": good, "poor": poor}, y_true, ["cce", "auc_roc"])
    detector      cce  auc_roc
    --------  -------  -------
    good      0.8518*  1.0000*
    poor      0.0475   0.5000
    <BLANKLINE>
    * best
    """
    rule = parse_threshold(threshold)
    runs: dict[str, list[tuple[str, Any, Any]]] = {}
    for series, detector, labels, values in _runs(scores, y_true):
        runs.setdefault(detector, []).append((series, labels, values))
    if not runs:
        raise InvalidInputError("scores is empty: there is nothing to compare")
    rows: list[Row] = []
    micro: Values = {}
    for detector, entries in runs.items():
        try:
            found = evaluate_many(entries, metrics, threshold=rule)
        except InvalidInputError as error:
            raise InvalidInputError(f"detector {detector!r}: {error}") from None
        rows += [{"series": row["series"], "detector": detector, **row} for row in found.rows]
        micro[detector] = found.micro
    return Comparison(rows, pooled=lambda: micro)


def _runs(scores: Any, y_true: Any) -> Iterator[Run]:
    """Every scoring, whatever form it came in."""
    if isinstance(scores, (str, Path)):
        yield from _kept(scores)
    elif isinstance(scores, Mapping):
        if y_true is None:
            raise InvalidInputError("y_true is missing: a mapping of scores needs the labels of the series")
        for name, values in scores.items():
            yield "", str(name), y_true, values
    elif y_true is not None:
        raise InvalidInputError("scores must be a mapping from detector to scores where y_true is given")
    else:
        for entry in scores:
            try:
                series, detector, labels, values = entry
            except (TypeError, ValueError):
                raise InvalidInputError("scores must give (series, detector, y_true, y_score) each time") from None
            yield str(series), str(detector), labels, values


def _kept(folder: str | Path) -> Iterator[Run]:
    from tsadeval.experiments.scores import all_scores

    if not Path(folder, "scores").is_dir():
        raise InvalidInputError(f"{folder} keeps no scores: run `tsadeval detect --store {folder}` first")
    for kept in all_scores(folder):
        seed = kept.provenance["seed"]
        detector = kept.provenance["detector"] + (f", seed {seed}" if seed else "")
        yield kept.provenance["dataset"], detector, kept.labels, kept.scores


class DetectorTable(Mapping[str, dict[str, float]]):
    """Detectors by metrics; as a mapping, detector to its values by metric.

    `percent` shows values times 100 as papers print them (only of metrics that are at most 1); what the
    mapping and `to_frame` give are the values themselves.
    """

    def __init__(
        self, values: Values, *, title: str = "", titles: Mapping[str, str] | None = None, percent: bool = False
    ) -> None:
        self.title = title
        self.percent = percent
        self._values = values
        self._titles = dict(titles or {})
        self.metrics = list(next(iter(values.values())))

    def __getitem__(self, detector: str) -> dict[str, float]:
        """The values of a detector, by the key or by what the printed table calls it."""
        if detector not in self:
            known = [*self, *self._titles.values()]
            raise UnknownNameError(f"no detector {detector!r} in this table: {did_you_mean(detector, known)}")
        keys = {self._titles.get(key, key): key for key in self}
        return dict(self._values[detector if detector in self._values else keys[detector]])

    def __contains__(self, detector: object) -> bool:
        # Mapping's own version expects KeyError, which UnknownNameError is not (its message would be quoted).
        return detector in self._values or detector in {self._titles.get(key, key) for key in self}

    def get(self, detector: str, default: Any = None) -> Any:
        """The values of a detector, or the default where there is none of that name."""
        try:
            return self[detector]
        except UnknownNameError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def best(self, metric: str) -> list[str]:
        """The detectors with the best value of a metric; several where they are equal."""
        if metric not in self.metrics:
            raise UnknownNameError(f"no metric {metric!r} in this table: {did_you_mean(metric, self.metrics)}")
        record = METRICS.get(metric.partition("(")[0])
        sign = -1 if record is not None and record.direction == "lower" else 1
        known = {d: sign * found[metric] for d, found in self._values.items() if math.isfinite(found[metric])}
        return [d for d, value in known.items() if value == max(known.values())]

    def texts(self, mark: str, *, digits: int | None = None) -> list[list[str]]:
        """The rows as people read them; `mark` is the form of a best value, such as "%s*"."""
        best = {metric: self.best(metric) for metric in self.metrics}
        best = {metric: names if len(names) < len(self) else [] for metric, names in best.items()}  # all equal: no mark
        rows = []
        for detector, found in self._values.items():
            row = [self._titles.get(detector, detector)]
            for metric in self.metrics:
                text = self._text(metric, found[metric], digits)
                row.append(mark % text if detector in best[metric] else text)
            rows.append(row)
        return rows

    def _text(self, metric: str, value: float, digits: int | None) -> str:
        if math.isnan(value):
            return "-"
        record = METRICS.get(metric.partition("(")[0])
        scaled = self.percent and record is not None and record.range[1] <= 1
        places = digits if digits is not None else 2 if scaled else 4
        return cell_text(round(100 * value if scaled else value, places) + 0.0, places)  # never -0.0000

    def table(self) -> list[list[Any]]:
        """Head and rows, as numbers."""
        return [["detector", *self.metrics], *([d, *found.values()] for d, found in self._values.items())]

    def to_frame(self) -> pd.DataFrame:
        """A row per detector, a column per metric."""
        frame = require("pandas", extra="all").DataFrame.from_dict(self._values, orient="index")
        return frame.rename_axis("detector")  # type: ignore[no-any-return]

    def to_json(self, *, indent: int | None = 2) -> str:
        """A list of detectors with their values; one that is not a number is null."""
        rows = [{"detector": d, **{m: plain(v) for m, v in found.items()}} for d, found in self._values.items()]
        return json.dumps(rows, indent=indent)

    def to_latex(self, *, digits: int | None = None) -> str:
        """A tabular with the best values in bold (booktabs)."""
        return _tabular([self], digits)

    def latex_lines(self, digits: int | None = None) -> list[str]:
        """Head, rule and rows, without the tabular around them."""
        labels = [look.label for look in looks(self.metrics).values()]
        head = [latex_text(text) for text in [self.title or "Detector", *labels]]
        rows = [[latex_text(row[0]), *row[1:]] for row in self.texts(r"\textbf{%s}", digits=digits)]
        return [" & ".join(head) + r" \\", r"\midrule", *(" & ".join(row) + r" \\" for row in rows)]

    def __repr__(self) -> str:
        lines = [[self.title or "detector", *self.metrics], *self.texts("%s*")]
        if len(self.metrics) > len(self):  # reads better downwards
            lines = [list(row) for row in zip(*lines, strict=True)]
        # A blank where the star of a best value would be keeps the digits under each other.
        lines[1:] = [[row[0], *(text if text.endswith("*") else f"{text} " for text in row[1:])] for row in lines[1:]]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return text_table([[row[0], *(t.rjust(w) for t, w in zip(row[1:], widths[1:], strict=True))] for row in lines])


def _tabular(tables: Sequence[DetectorTable], digits: int | None) -> str:
    lines = [
        line for table in tables for line in ([r"\midrule"] * (table is not tables[0]) + table.latex_lines(digits))
    ]
    spec = "l" + "r" * len(tables[0].metrics)
    return "\n".join([rf"\begin{{tabular}}{{{spec}}}", r"\toprule", *lines, r"\bottomrule", r"\end{tabular}"])


class Comparison:
    """Values of detectors on series; `rows` holds one dict per series, detector and metric.

    `titles` are the names of detectors as tables show them; `pooled` gives the micro values when they are asked for.
    """

    def __init__(
        self, rows: list[Row], *, pooled: Callable[[], Values], titles: Mapping[str, str] | None = None
    ) -> None:
        self.rows = rows
        self.series = list(dict.fromkeys(row["series"] for row in rows))
        self.detectors = list(dict.fromkeys(row["detector"] for row in rows))
        self.metrics = list(dict.fromkeys(row["metric"] for row in rows))
        self._pooled = pooled
        self._titles = dict(titles or {})

    @cached_property
    def _micro(self) -> Values:
        return self._pooled()

    def table(self, series: str | None = None, *, percent: bool = False) -> DetectorTable:
        """Detectors by metrics on one series; with one series only, it need not be named."""
        if series is None and len(self.series) > 1:
            raise InvalidParameterError(
                f"there are {len(self.series)} series: name one, such as {self.series[0]!r}, or take average()"
            )
        name = self.series[0] if series is None else series
        if name not in self.series:
            raise UnknownNameError(f"no series {name!r} in this comparison: {did_you_mean(name, self.series)}")
        return self._table(name, lambda rows: self._macro(row for row in rows if row["series"] == name), percent)

    def average(
        self,
        how: Literal["macro", "micro"] = "macro",
        *,
        groups: Callable[[str], str] | None = None,
        percent: bool = False,
    ) -> DetectorTable:
        """Detectors by metrics over all series.

        *Macro* is the mean over data sets of the mean over their series, as far as values are defined; `groups` says
        which data set a series belongs to (by default "smd/2-1" to "smd"; `groups=str` counts every series by
        itself). *Micro* pools all points of all series, where that has a meaning for the metric (see `evaluate_many`).
        """
        check_parameters("average", {"how": OneOf(("macro", "micro"))}, {"how": how})
        if how == "micro":
            nothing = dict.fromkeys(self.metrics, math.nan)
            values = {d: {**nothing, **self._micro.get(d, {})} for d in self.detectors}
            return DetectorTable(values, title="micro average", titles=self._titles, percent=percent)
        return self._table(AVERAGE, lambda rows: self._over_groups(rows, groups or dataset_of), percent)

    def group(self, name: str, *, percent: bool = False) -> DetectorTable:
        """Detectors by metrics over the series of one data set."""
        return self._table(
            name, lambda rows: self._macro(row for row in rows if dataset_of(row["series"]) == name), percent
        )

    def _table(self, title: str, mean: Callable[[list[Row]], dict[str, float]], percent: bool) -> DetectorTable:
        values = {d: mean([row for row in self.rows if row["detector"] == d]) for d in self.detectors}
        return DetectorTable(values, title=title, titles=self._titles, percent=percent)

    def _macro(self, rows: Iterable[Row]) -> dict[str, float]:
        return SeriesResult(list(rows), self.metrics, {}).macro

    def _over_groups(self, rows: list[Row], groups: Callable[[str], str]) -> dict[str, float]:
        parts: dict[str, list[Row]] = {}
        for row in rows:
            parts.setdefault(groups(row["series"]), []).append(row)
        means = {group: self._macro(part) for group, part in parts.items()}
        return self._macro({"metric": m, "value": v} for found in means.values() for m, v in found.items())

    def tables(self, *, percent: bool = False) -> list[DetectorTable]:
        """What is worth showing: every series (of many, every data set), and the average where there are several."""
        if len(self.series) == 1:
            return [self.table(percent=percent)]
        names = list(dict.fromkeys(map(dataset_of, self.series)))
        if len(self.series) > MANY and len(names) < len(self.series):
            shown = [self.group(name, percent=percent) for name in names]
        else:
            shown = [self.table(name, percent=percent) for name in self.series]
        return [*shown, self.average(percent=percent)] if len(shown) > 1 else shown

    def to_frame(self) -> pd.DataFrame:
        """A row per series, detector and metric, with all that is known of each."""
        return require("pandas", extra="all").DataFrame(self.rows)  # type: ignore[no-any-return]

    def to_latex(self, *, percent: bool = False, digits: int | None = None) -> str:
        """The tables under each other in one tabular, best values in bold (booktabs)."""
        return _tabular(self.tables(percent=percent), digits)

    def __repr__(self) -> str:
        return self.shown()

    def shown(self, *, percent: bool = False) -> str:
        """The tables as text."""
        texts = [repr(table) for table in self.tables(percent=percent)]
        notes = (["* best"] if len(self.detectors) > 1 else []) + self._gaps()
        return "\n\n".join([*texts, "\n".join(notes)] if notes else texts)

    def _gaps(self) -> list[str]:
        """Which averages stand on fewer series than the others."""
        if len(self.series) == 1:
            return []
        have = {d: {row["series"] for row in self.rows if row["detector"] == d and _known(row)} for d in self.detectors}
        return [
            f"{self._titles.get(d, d)} has values on {len(found)} of {len(self.series)} series only"
            for d, found in have.items()
            if len(found) < len(self.series)
        ]


def _known(row: Row) -> bool:
    return math.isfinite(row["value"])


def dataset_of(series: str) -> str:
    """The data set that a series belongs to: of a known one the part before the stroke, else the series itself.

    >>> dataset_of("smd/2-1"), dataset_of("my/own.csv")
    ('smd', 'my/own.csv')
    """
    from tsadeval.datasets import DATASETS

    name = series.partition("/")[0]
    return name if name in DATASETS else series
