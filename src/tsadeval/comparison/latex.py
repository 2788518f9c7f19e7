"""LaTeX tables of comparisons: best, second best, and what is not told apart from the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tsadeval.comparison import statistics
from tsadeval.comparison.statistics import Floats
from tsadeval.core.metric import METRICS, metric_labels
from tsadeval.core.results import cell_text, latex_text

__all__ = ["Alike", "Style", "Wrap", "marked", "metrics_tabular", "not_told_apart", "series_tabular", "wrapped"]

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
    k, kept = better.shape[1], statistics.with_values(better)
    better = better[:, kept]
    if len(kept) < 2 or len(statistics.whole_rows(better)) < 2:
        return Alike([False] * k)
    best = int(np.argmin(statistics.mean_ranks(better, draws=1).mean))
    found = statistics.wilcoxon_holm(better)
    alike = found.same(alpha)[best].tolist()
    same = [alike[kept.index(j)] if j in kept else False for j in range(k)]
    return Alike(same, True, found.too_few(alpha), not any(alike[:best] + alike[best + 1 :]))


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
