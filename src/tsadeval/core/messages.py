"""Sentences made from facts: notes, warnings and the error where no metric has a value; who lacks series or skill."""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

from tsadeval.core.facts import COUNTS, OF_LABELS, Flaw, OddAlarms, Origin, finite_mean, grouped
from tsadeval.core.results import Row, all_digits
from tsadeval.core.setting import Missing
from tsadeval.errors import FailedMetricWarning, InvalidInputError, ThresholdWarning, hint, warn, warn_undefined

# By series and detector what is odd about the alarms there.
Odd = Mapping[tuple[str, str], OddAlarms | None]

Share = tuple[int, int]  # on how many series a detector has values of a metric, of those on which anyone has
SAYS_LITTLE = "metrics of predictions say little there"
LINES = 6  # about averages over fewer series; of more there is one
# Scores that are low for anomalies are below these, random ones of a few events hardly ever.
_TURNED = {"auc_roc": 0.2, "ears": -0.09}
IS_TURNED = "far worse than random scores; if the scores are low for anomalies, pass their negatives"
# What to do about a rule that alarms everywhere, or nowhere.
_ADVICE = {
    Origin.BEST_OF_ONE: "no threshold tells anomalous from normal points",
    Origin.SCORES: "all scores are equal",
    Origin.BUDGET: "no threshold that finds an event keeps the budget",
}
_CHOSEN = {
    Origin.BEST: "chosen with the labels for each metric, an upper bound",
    Origin.BEST_OF_ONE: "the one that is best for that metric, chosen with the labels",
    Origin.BUDGET: "that of most events within this budget of false alarms, chosen with the labels",
}
# Metrics whose value depends on when an event began.
_OF_STARTS = frozenset({"detection_delay", "expected_cost"})


def named(names: Sequence[str], most: int = 5) -> str:
    """Join names for a message, of many the first ones ("a, b, ... (7 in all)")."""
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def are(names: Sequence[str]) -> str:
    """Join names, with the verb that belongs to them."""
    return f"{named(names)} {'are' if names[1:] else 'is'}"


def count_notes(rows: Sequence[Row]) -> list[str]:
    """Say of the rows of one scoring which points and scores were left out, and what rules were fitted on."""
    counts = {name: (rows[0].get(name) or 0) if rows else 0 for name in COUNTS}
    skipped, events, late = counts["ignored_points"], counts["ignored_events"], counts["late_events"]
    unseen = f"{events} whole event{'s' * (events != 1)}"
    with_them = f", and with them {unseen}" if events else ""
    of_starts = any(row.get("metric", "").partition("(")[0] in _OF_STARTS for row in rows)
    begin = "1 event begins" if late == 1 else f"{late} events begin"
    notes = {
        f"{skipped} points are not judged{with_them}": skipped,
        f"{unseen} without a score {'is' if events == 1 else 'are'} not judged": events and not skipped,
        f"{counts['dropped']} points without a score were left out": counts["dropped"],
        f"no span of {hint('ignore=', '--ignore')} has a point inside": counts["idle_spans"],
        f"{counts['missing_scores']} scores are missing, so without alarm": counts["missing_scores"],
        f"rules without labels are fitted on {counts['fit_scores']} other scores": counts["fit_scores"],
        f"{begin} right after a gap in the times: delays count from the first point after it": late and of_starts,
    }
    return [note for note, holds in notes.items() if holds]


def label_notes(rows: Iterable[Row]) -> list[str]:
    """Say which thresholds were chosen with the labels, a line for each rule."""
    found = {row["rule"]: row.get("origin", Origin.RULE) for row in rows if row.get("uses_labels") and row["rule"]}
    return [f"threshold {rule}: {_CHOSEN.get(found[rule], 'chosen with the labels')}" for rule in sorted(found)]


def interval_notes(rows: Sequence[Row]) -> list[str]:
    """Say which values have no interval, and why, and which intervals are too short where there are few events."""
    lacking = grouped((row["no_interval"], row["metric"]) for row in rows if row.get("no_interval"))
    short = [row["metric"] for row in rows if row.get("uncertain") and row["low"] is not None]
    notes = [
        f"no interval: {reason}{f' ({named(some)})' * (len(some) < len(rows))}" for reason, some in lacking.items()
    ]
    few = "too short an interval in more than 10 % of simulated series with as many events (docs/coverage.md): "
    return [*notes, few + named(short)] if short else notes


def upside_down(rows: Iterable[Row]) -> str:
    """Name the metrics by which scores are far worse than random ones, as if they were low for anomalies."""
    values = grouped((row["metric"], row["value"]) for row in rows if row["metric"] in _TURNED)
    return ", ".join(name for name, found in values.items() if finite_mean(found) < _TURNED[name])


def by_reason(lacking: Iterable[tuple[str, str, str]]) -> list[tuple[str, list[str], list[str]]]:
    """Put together (reason, metric, place): for each reason the metrics that have it in the same places.

    >>> by_reason([("no alarm", "f1", "a"), ("no alarm", "recall", "a"), ("no alarm", "cost", "b")])
    [('no alarm', ['f1', 'recall'], ['a']), ('no alarm', ['cost'], ['b'])]
    """
    places = grouped(((reason, metric), place) for reason, metric, place in lacking)
    together = grouped(((reason, tuple(found)), metric) for (reason, metric), found in places.items())
    return [(reason, metrics, list(found)) for (reason, found), metrics in together.items()]


def warn_of_undefined(rows: Iterable[Row]) -> None:
    """Warn once for each reason why metrics have no value; rows may name a series, and a detector.

    Where all of them failed, that is an error.
    """
    rows = list(rows)
    failed = failed_lines(rows)
    if failed and all(row["status"] in ("error", "missing") for row in rows):
        raise InvalidInputError(f"no metric has a value: {'; '.join(failed)}")
    for line in failed:
        warn(line, FailedMetricWarning)
    rest = "; averages are over the other series" if len({row.get("series") for row in rows}) > 1 else ""
    for message, metrics, places in _without_value(rows, "undefined"):
        warn_undefined(", ".join(metrics), message + rest, on=named(places))


def failed_lines(rows: Sequence[Row]) -> list[str]:
    """Say which metrics raised, or their rule did, on which series and of which detectors."""
    return [
        f"{', '.join(metrics)} failed{f' on {named(places)}' if places else ''}, so NaN: {message}"
        for message, metrics, places in _without_value(rows, "error")
    ]


def _without_value(rows: Sequence[Row], status: str) -> list[tuple[str, list[str], list[str]]]:
    """Put together for each reason the metrics without a value, and the series and detectors where that is so."""
    # Who was evaluated by a metric on a series, and who has no value there for a reason.
    evaluated = grouped(((row.get("series", ""), row["metric"]), row.get("detector", "")) for row in rows)
    causes = grouped(
        ((row["message"], row["metric"], row.get("series", "")), row.get("detector", ""))
        for row in rows
        if row["message"] is not None and row["status"] == status
    )
    lacking = []
    for (message, metric, series), who in causes.items():
        some = "" if set(who) == set(evaluated[series, metric]) else ", ".join(sorted(set(who)))
        lacking.append((message, metric, f"{series} ({some})" if series and some else series or some))
    return [(message, metrics, list(filter(None, places))) for message, metrics, places in by_reason(lacking)]


def warn_of_alarms(odd: Mapping[str, OddAlarms | None]) -> None:
    """Warn once of each rule that raised no alarm at all, or alarmed everywhere, and name the series."""
    best = hint('threshold="best"', "--threshold best")
    together = grouped((found[:3], (place, found.threshold)) for place, found in odd.items() if found is not None)
    for (rule, origin, everywhere), places in together.items():
        known = [place for place, _ in places if place]
        thresholds = {one for _, one in places if one is not None}
        threshold = "".join(f" (threshold {all_digits(one)})" for one in thresholds) if len(thresholds) == 1 else ""
        on = f" on {named(known)}" if known else ""
        advice = _ADVICE.get(origin, f"choose another threshold, or {best}")
        what = f"the rule {rule}{threshold} {'raises an alarm at all points' if everywhere else 'raises no alarm'}{on}"
        warn(f"{what}, so metrics of predictions say little: {advice}", ThresholdWarning)


def comparison_remarks(
    rows: Sequence[Row], metrics: Sequence[str], titles: Mapping[str, str], missing: Missing, odd: Odd
) -> list[str]:
    """Collect all remarks about some rows of a comparison; `titles` has its detectors, as tables show them."""
    notes = label_notes(rows)
    bests = (Origin.SCORES, Origin.BEST, Origin.BEST_OF_ONE)
    others = sorted({row["rule"] for row in rows if row.get("rule") and row.get("origin") not in bests})
    notes += [f"alarms: {', '.join(others[:3])}{', ...' * (len(others) > 3)}"] if others else []
    binary = dict.fromkeys(titles[row["detector"]] for row in rows if row.get("origin") == Origin.SCORES)
    notes += [f"{named(list(binary))}: scores of 0 and 1 are taken as alarms"] if binary else []
    rules = {row.get("rule") for row in rows}
    notes += odd_remarks({key: found for key, found in odd.items() if found and found.rule in rules}, titles, rows)
    by_detector = grouped((row["detector"], row) for row in rows)
    for detector, title in titles.items():
        if turned := upside_down(by_detector.get(detector, ())):
            notes.append(f"{title}, {turned}: {IS_TURNED}")
    without = {(row["series"], row["detector"]) for row in rows if row.get("dropped")}
    if without:
        how = "left out" if missing in ("skip", "ignore") else "taken as lower than all others"
        notes.append(f"points without a score were {how} in {len(without)} scoring{'s' * (len(without) > 1)}")
    return notes + undefined_everywhere(rows, metrics) + fewer_series(rows, metrics, titles, missing)


def print_note(
    rows: Sequence[Row],
    called: Mapping[str, str],
    lower: Sequence[str],
    flaws: Mapping[str, Sequence[Flaw | None]],
    titles: Mapping[str, str],
    missing: Missing,
) -> str:
    """Say in one sentence what a reader of printed values has to know: directions, thresholds, flaws and gaps.

    Thresholds and gaps are in the rows; `called` has what metrics are called there.
    """
    chosen = any(row.get("uses_labels") for row in rows)
    others = dict.fromkeys(row["rule"] for row in rows if row.get("rule") and row["origin"] == Origin.RULE)
    gaps = fewer_series(rows, list(called.values()), titles, missing)
    parts = [
        f"lower is better for {', '.join(lower)}" if lower else "",
        "thresholds were chosen with the labels, an upper bound" if chosen else "",
        f"{'other ' * chosen}thresholds: {', '.join(others)}" if others else "",
        "scores of 0 and 1 are alarms as they are" if any(row.get("origin") == Origin.SCORES for row in rows) else "",
        *flaw_remarks(flaws, list(titles.values())),
        *(gaps if len(gaps) < 3 else ["some averages stand on fewer series than others"]),
    ]
    text = "; ".join(filter(None, parts))
    return text[:1].upper() + text[1:]


def odd_remarks(odd: Odd, titles: Mapping[str, str], rows: Iterable[Row]) -> list[str]:
    """Say which detectors alarm everywhere, or nowhere, and on how many series of the rows."""
    series = {row["series"] for row in rows}
    kinds = grouped(
        (found.everywhere, titles[detector]) for (where, detector), found in odd.items() if found and where in series
    )
    lines = []
    for everywhere, titled in kinds.items():
        places = Counter(titled)
        names = [f"{name} (on {count} of {len(series)} series)" for name, count in places.items()]
        who = named(list(places) if len(series) == 1 else names)
        lines.append(f"{'an alarm at all points' if everywhere else 'no alarm'}: {who}; {SAYS_LITTLE}")
    return lines


def flaw_remarks(flaws: Mapping[str, Sequence[Flaw | None]], titles: Sequence[str]) -> list[str]:
    """Say who is never first by which metrics, and why: `flaws` has those of all detectors by metric."""
    found = grouped(
        ((titles[j], flaw), metric) for metric, some in flaws.items() for j, flaw in enumerate(some) if flaw is not None
    )
    together = grouped((tuple(metrics), f"{title} ({flaw})") for (title, flaw), metrics in found.items())
    return [
        f"never first{f' by {named(metrics)}' * (len(metrics) < len(flaws))}: {named(who)}"
        for metrics, who in together.items()
    ]


BASELINES = "random: the scores in random order (±: standard error of the mean of draws), perfect: the labels as scores"


def below_random(rows: Iterable[Row]) -> list[str]:
    """Say which detectors are not significantly better than their scores in random order, by which metrics.

    >>> below_random([{"metric": "f1", "detector": "flat", "different": False}])
    ['not significantly better than random scores: flat (f1)']
    """
    found = grouped((row["detector"], row["metric"]) for row in rows if not row["different"])
    who = [f"{name} ({', '.join(metrics)})" for name, metrics in found.items()]
    return [f"not significantly better than random scores: {named(who)}"] if who else []


def fewer_series(
    rows: Iterable[Row],
    metrics: Sequence[str],
    titles: Mapping[str, str],
    missing: Missing,
    only: Collection[str] | None = None,
) -> list[str]:
    """Which detectors (all, or `only` some) lack values that others have, and on how many series their averages stand.

    >>> rows = [{"series": s, "detector": d, "metric": "f1", "value": 0.5} for s, d in ("ax", "bx", "ay")]
    >>> fewer_series(rows, ["f1"], {"x": "X", "y": "Y"}, "skip")
    ['Y: averages over 1 of 2 series']
    """
    rows = list(rows)
    series = {row["series"] for row in rows}
    have = grouped(((row["detector"], row["metric"]), row["series"]) for row in rows if math.isfinite(row["value"]))
    counts = {(d, metric): len(set(have.get((d, metric), ()))) for d in titles for metric in metrics}
    # A series on which nobody has a value is named elsewhere.
    most = {metric: len({s for d in titles for s in have.get((d, metric), ())}) for metric in metrics}
    together: dict[tuple[tuple[Share, tuple[str, ...]], ...], list[str]] = {}
    for detector, title in titles.items():
        shares = grouped(((counts[detector, metric], most[metric]), metric) for metric in metrics)
        if any(count < known for count, known in shares) and (only is None or detector in only):
            together.setdefault(tuple((share, tuple(some)) for share, some in shares.items()), []).append(title)
    rest = ", and the worst of all detectors on the others" if missing == "worst" else ""
    if len(together) > LINES:
        names = [name for some in together.values() for name in some]
        fewer = [count for parts in together for (count, known), _ in parts if count < known]
        over = f"{min(fewer)} to {max(fewer)} of {max(most.values())} series"
        return [f"{named(names)}: averages over {over}{rest}; to_frame() has all values"]
    words = _no_value if len(series) == 1 else _averages
    return [f"{named(names)}: {words(parts)}{rest}" for parts, names in together.items()]


def _no_value(parts: Sequence[tuple[Share, Sequence[str]]]) -> str:
    """Return what a detector lacks on a single series."""
    short = [metric for (count, known), some in parts if count < known for metric in some]
    return "no value" if len(parts) == 1 else f"no value of {', '.join(short)}"


def _averages(parts: Sequence[tuple[Share, Sequence[str]]]) -> str:
    """On how many series the averages of a detector stand: first those of most metrics, then the others."""
    main = max(parts, key=lambda part: (len(part[1]), part[0][0] == part[0][1]))
    (count, known), _ = main
    if count == known:
        short = [part for part in parts if part[0][0] < part[0][1]]
        return "averages " + ", ".join(f"of {', '.join(some)} over {n} of {k} series" for (n, k), some in short)
    others = "; ".join(f"{', '.join(some)}: {n} of {k}" for (n, k), some in parts if some is not main[1])
    return f"averages over {count} of {known} series" + (f" ({others})" if others else "")


def undefined_everywhere(rows: Iterable[Row], metrics: Sequence[str]) -> list[str]:
    """Say why metrics are undefined on a series, whatever the detector, a line for each reason.

    >>> row = {"series": "a", "metric": "f1", "status": "undefined", "message": "", "reason": OF_LABELS[0]}
    >>> undefined_everywhere([row], ["f1", "cce"])
    ['a has no anomalous point: f1 is undefined there']
    """
    found = grouped(((row["series"], row["metric"]), row) for row in rows if row["status"] != "missing")
    lacking = []
    for (series, metric), some in found.items():
        if all(row["status"] == "undefined" and row["message"] is not None for row in some):  # nobody has a value
            of_labels = [row["reason"] for row in some if row.get("reason") in OF_LABELS]
            why = of_labels[0] if of_labels else "; ".join(sorted({row["message"] for row in some}))
            lacking.append((why, metric, series or "the series"))
    lines = []
    for why, undefined, places in by_reason(lacking):
        what = "metrics are" if len(undefined) == len(metrics) > 1 else are(undefined)
        if why in OF_LABELS:
            lines.append(f"{named(places)} {'have' if places[1:] else 'has'} {why}: {what} undefined there")
        else:
            lines.append(f"{named(places)}: {what} undefined ({why})")
    return lines


def choice_line(stake: float, labels: float, series: int, chosen: Iterable[str]) -> str:
    """Say whether the choice of a metric matters, or more labels would.

    `stake` is the spread between the detectors that metrics choose, `labels` what is lost on other series of as many
    even where the criterion itself chooses.

    >>> choice_line(0.02, 0.1, 8, ["lof", "pca"])
    'the metric matters less (0.02 between lof and pca) than which series are labelled (0.10): label more than these 8'
    """
    first, *others = chosen
    if not others:
        return f"all metrics choose {first}: which of them you take does not matter here"
    if stake <= 1e-9:
        return "all choices are worth the same by this criterion: by it the metric does not matter here"
    if math.isnan(labels):
        return f"{series} labelled series are too few to say whether the metric matters: label ten first"
    between = f"{stake:.2f} between {' and '.join([first, *others])}"
    if stake <= labels:
        more = f"label more than these {series}"
        return f"the metric matters less ({between}) than which series are labelled ({labels:.2f}): {more}"
    return f"the metric matters here ({between}), more than which series are labelled ({labels:.2f})"
