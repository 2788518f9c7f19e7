"""`te.report`: write one page about one or several detectors that needs nothing but a browser."""

import platform
import sys
import warnings
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from tsadeval.comparison import Comparison, compare
from tsadeval.core.facts import OF_LABELS, grouped, rule_facts
from tsadeval.core.messages import failed_lines, fewer_series, named, odd_remarks
from tsadeval.core.metric import Metric, Rule, metric_labels
from tsadeval.core.names import printable
from tsadeval.core.selection import Metrics, select_metrics
from tsadeval.core.setting import Missing
from tsadeval.errors import FailedMetricWarning, InvalidParameterError, warn
from tsadeval.reports.html import as_json, render
from tsadeval.reports.page import IN_TIME, METRICS, Page, SeriesView, of_choice, operations
from tsadeval.scores.scores import NO_SCORE, Reading, Scores, as_scores
from tsadeval.tables.files import write_whole
from tsadeval.thresholds import Choice, best, parse_rule


def report(
    scores: Any,
    path: str | Path,
    y_true: Any = None,
    metrics: Metrics | None = None,
    *,
    threshold: str | float | Rule | None = None,
    choice: Choice | None = None,
    X: Any = None,
    title: str = "",
    command: str = "",
    sources: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    random_state: int = 0,
    **reading: Unpack[Reading],
) -> Path:
    """Write a report: one self-contained HTML page about one or several detectors.

    The page shows the comparison of several detectors with its statistics, the series and the scores with zoom and pan,
    the events and what each cost, a threshold slider with the metrics at every threshold, all metrics beside random and
    perfect, and the breakdown of CCE. It works offline and needs no other file.

    Parameters
    ----------
    scores, y_true, X
        What `te.compare` or `te.detect` returned, a `te.Scores`, or what it is made from.
    path : str or Path
        The file to write.
    metrics, threshold : optional
        As for `evaluate`; thresholds are found for each scoring by itself. By default those of the comparison where
        `scores` is one, else the set "recommended" and the rule "best". Where the rule is "best", `best_f1` is left out
        beside `f1`, which has the same values.
    choice : Choice, optional
        What `te.choose_threshold` returned for several detectors: the page begins with its answer and has a picture of
        all series with the incidents found, missed and false alarms of the chosen detector, then the missed incidents.
        Thresholds and detectors are those of the choice; what is drawn and listed is the chosen detector. Where it
        held out a part, pass these scores. Metrics are those of events by default.
    title : str, optional
        Of the page.
    command : str, optional
        How the page was made, for its last section.
    sources : mapping, optional
        File to its checksum, for the last section; by default that of every file that was read.
    notes : sequence of str, optional
        What a reader has to know first, such as files that could not be read: for the box at the top.
    random_state : int, default=0
        For the column "random".
    reading
        The options of `te.Scores`: `label`, `score`, `by`, `time`, `incidents`, `ignore`, `missing` and others. Of
        these `values`, the series itself, is drawn above the scores: up to eight columns, of one series also as a
        mapping from their names. Dates with a time zone are shown in it; ignored points are shaded.

    Returns
    -------
    Path
        The file. A scoring that cannot be evaluated is left out, and the page names it at the top; where nothing can be
        evaluated, this raises. The page of a comparison has exactly its numbers.

    Examples
    --------
    >>> import tempfile, tsadeval as te
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = te.report({"mine": [0.1, 0.9, 0.2, 0.3]}, f"{folder}/page.html", y_true=[0, 1, 0, 0])
    ...     page.name
    'page.html'
    """
    path = Path(path)
    if path.is_dir():  # found out now, not after all was computed
        raise InvalidParameterError(f"path must be that of a file, but {printable(path)} is a folder")
    found = as_scores(scores, y_true, X=X, **reading)
    compared = scores if isinstance(scores, Comparison) else None
    usual = "best" if compared is None else compared.made.rule
    rules = None
    if choice is not None:
        if not isinstance(choice, Choice) or not choice.detector or threshold is not None:
            raise InvalidParameterError(
                "choice must be what te.choose_threshold returns for several detectors or with per=, and goes without "
                "threshold="
            )
        found, rules = found.select(detectors=list(choice.thresholds)), choice.thresholds
        usual = min(rules[choice.detector], sys.float_info.max)
        metrics = (IN_TIME if choice.words["unit"] else METRICS) if metrics is None else metrics
    rule = parse_rule(usual if threshold is None else threshold)
    chosen, doubled = _without_double(_metrics(metrics, compared), rule)
    series = [SeriesView.of(one, found.value_column) for one in found.by_series()]
    # The series itself changes no value.
    other = threshold is not None or choice is not None or {*reading} - {"values"}
    with warnings.catch_warnings(action="ignore"):  # the page says it
        if compared is None or other or not {str(metric) for metric in chosen} <= {*compared.metrics}:
            compared = compare(found, metrics=chosen, threshold=rule, thresholds=rules)
        page = Page(of_choice(series, choice), compared, chosen, rule, random_state=random_state, cce=choice is None)
        page.data["operations"] = None if choice is None else operations(series, choice)
    detectors = {name: name for name in page.data["detectors"]}
    odd = odd_remarks(page.odd, detectors, [{"series": one.name} for one in series])
    about = [*notes, *found.notes, *_notes(found, series, compared)]
    failed = failed_lines(compared.rows)
    about += [f"{text}." for text in failed + _lacking(compared)] + [f"{text[:1].upper()}{text[1:]}." for text in odd]
    text = _render(page, rule, title, command, found.checksums() if sources is None else sources, about, doubled)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())
    for line in failed:
        warn(line, FailedMetricWarning)
    return path


def _notes(scores: Scores, series: Sequence[SeriesView], compared: Comparison) -> list[str]:
    """Say what a reader has to know before any number: what is not on the page, and what stands for it."""
    missing = compared.missing
    detectors = list(dict.fromkeys(name for one in series for name in one.detectors))
    names = {one.name for one in series}
    found = [
        f"Left out: {one}"
        for one in scores.lost
        if one.reason != NO_SCORE or one.detector not in detectors or one.series not in names  # else named below
    ]
    gone = grouped((tuple(one.name for one in series if name not in one.detectors), name) for name in detectors)
    for lacking, who in gone.items():
        have, means = (f"{len(who)} detectors ({named(who)}) have", "their means are")
        if len(who) == 1:
            have, means = f"{who[0]} has", "its mean is"
        how = "the worst value of the others stands there" if missing == "worst" else f"{means} over the others"
        if lacking:
            found.append(f"{have} no scores on {len(lacking)} of {len(series)} series ({named(lacking)}): {how}.")
    holes = grouped(
        (tuple((one.name, one.detectors[name].missing) for one in series if name in one.detectors), name)
        for name in detectors
    )
    how = "were left out" if missing in ("skip", "ignore") else "count as lower than all others"
    for points, who in holes.items():
        each = " each" * (len(who) > 1)
        found += _counted(f"{named(who)}: {{}}{each} without a score {how}{{}}.", dict(points))
    ignored = {one.name: one.ignored for one in series if one.ignored is not None}
    idle = [name or "the series" for name, points in ignored.items() if not points.any()]
    found += [f"No point of {named(idle)} lies in the spans of time to ignore."] if idle else []
    unseen = sum(map(_count_unseen, series))
    events = f", and with them {unseen} whole event{'s' * (unseen != 1)}" if unseen else ""
    counts = {name: int(np.count_nonzero(points)) for name, points in ignored.items()}
    found += _counted(f"{{}} that were to be ignored are not judged{events}{{}}.", counts)
    for what, label in (("anomalous", 1), ("normal", 0)):
        without = [one.name or "the series" for one in series if not one.labels.has(label)]
        verb = "has" if len(without) == 1 else "have"
        found += [f"{named(without)} {verb} no {what} point: most metrics have no value there."] if without else []
    return found


def _count_unseen(one: SeriesView) -> int:
    """Count the events all of whose points are ignored."""
    judged = np.append(0, np.cumsum(np.ones(one.labels.n, np.bool_) if one.ignored is None else ~one.ignored))
    return int(np.count_nonzero(judged[one.labels.events.stops] == judged[one.labels.events.starts]))


def _counted(text: str, counts: Mapping[str, int]) -> list[str]:
    """Complete a sentence about points with their number and the series they are of; none where there are none."""
    known = {name: count for name, count in counts.items() if count}
    total = sum(known.values())
    where = f" ({named([f'{name}: {count:,}' for name, count in known.items()])})" if any(known) else ""
    return [text.format(f"{total:,} point{'s' * (total != 1)}", where)] if known else []


def _lacking(compared: Comparison) -> list[str]:
    """Name averages over fewer series though there are scores, since a metric is undefined for these scores."""
    rows = [row for row in compared.rows if row["status"] == "undefined"]
    # What is undefined for lack of a class of points is so for all detectors, and the page says it of the series.
    short = {row["detector"] for row in rows if row["reason"] not in OF_LABELS}
    labels = metric_labels(compared.metrics)
    called = [{**row, "metric": labels[row["metric"]]} for row in compared.rows]
    return fewer_series(called, list(labels.values()), compared.titles, compared.missing, short)


def _metrics(metrics: Metrics | None, compared: Comparison | None) -> tuple[Metric, ...]:
    if metrics is not None or compared is None:
        return tuple(select_metrics("recommended" if metrics is None else metrics))
    own = {str(metric): metric for metric in compared.made.metrics}
    return tuple(own.get(name) or select_metrics(name)[0] for name in compared.metrics)


def _without_double(metrics: tuple[Metric, ...], rule: Rule) -> tuple[tuple[Metric, ...], str]:
    """Leave out the best F1 where F1 is taken at its best threshold, and what is to be said about it."""
    names = [str(metric) for metric in metrics]
    if rule not in _BEST_F1 or not {"f1", "best_f1"} <= set(names):
        return metrics, ""
    return tuple(m for m in metrics if str(m) != "best_f1"), "best_f1 is not shown: with this rule it is F1"


_BEST_F1 = (best(), best("f1"))  # rules by which F1 is taken at its best threshold

WORDS: dict[Missing, str] = {
    "skip": "points without a score are left out, averages are over the series that a detector has",
    "ignore": "points without a score are left out, and metrics that cannot do that have no value",
    "no alarm": "points without a score count as lower than all others",
    "worst": "points without a score count as lower than all others, and a detector without any gets the worst value",
    "error": "refused, so there are none",
}


def _render(
    page: Page, rule: Rule, title: str, command: str, sources: Mapping[str, str], notes: list[str], doubled: str
) -> str:
    import tsadeval

    data = page.data
    compared, series = data["comparison"], data["series"]
    detectors = data["detectors"] if compared is None else compared["detectors"]
    points = sum(one["n"] for one in series)
    subtitle = f"{len(detectors)} detector{'s' * (len(detectors) != 1)}, {len(series)} series"
    if data["operations"] is None:
        subtitle += f", {points:,} points, {len(data['metrics'])} metric{'s' * (len(data['metrics']) != 1)}"
    step, draws = data["step"], data["draws"]
    if step > 1:
        notes.append(f"Lines are drawn from the extremes of every {step} points; all numbers are of all points.")
    if len(detectors) == 1:
        title = title or f"Report: {detectors[0]}"
    names = ", ".join(metric["name"] for metric in data["metrics"])
    about = [
        ("Made by", f"tsadeval {tsadeval.__version__}, NumPy {np.__version__}, Python {platform.python_version()}"),
        ("Made at", datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")),
        ("Threshold rule", str(rule)),
        ("Missing scores", f"{data['missing']}: {WORDS[data['missing']]}"),
        ("Metrics", f"{names} ({doubled})" if doubled else names),
        ("Random (baseline)", f"mean of {draws} shuffles, or a formula" if draws else "left out: too many points"),
    ]
    about += [("Command", command)] if command else []
    about += [(f"File {name}", f"SHA-256 {digest}") for name, digest in sources.items()]
    return render(
        "report.html.j2",
        styles=("base.css", "report.css", "operations.css"),
        scripts=("common.js", "clock.js", "packed.js", "chart.js", "tables.js", "operations.js", "report.js"),
        title=title or "Report of anomaly detectors",
        subtitle=subtitle,
        notes=notes,
        comparison=data["comparison"] is not None,
        operations=data["operations"],
        cce=any(metric["name"].partition("(")[0] == "cce" for metric in data["metrics"]),
        rule=rule_facts(rule),
        at_best_f1=rule in _BEST_F1,
        compares_only=all(found["plain"] for one in series for found in one["detectors"].values()),
        trivial=[metric["label"] for metric in data["metrics"] if metric["trivial"]],
        about=about,
        series=series,
        version=tsadeval.__version__,
        data=as_json(data),
        payloads=page.payloads.texts,
    )
