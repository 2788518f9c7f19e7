"""Sentences made from facts in rows and settings: notes under results, remarks on comparisons, warnings."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from tsadeval.core.facts import COUNTS, OF_LABELS, OddAlarms, Origin, finite_mean
from tsadeval.core.results import Row
from tsadeval.core.setting import Missing
from tsadeval.errors import ThresholdWarning, hint, warn, warn_undefined

# By series and detector what is odd about the alarms there.
Odd = Mapping[tuple[str, str], OddAlarms | None]

Share = tuple[int, int]  # on how many series a detector has values of a metric, of those on which anyone has
SAYS_LITTLE = "metrics of predictions say little there, even where they are first"
LINES = 6  # about averages over fewer series; of more there is one
# Scores that are low for anomalies are below these, random ones of a few events hardly ever.
_TURNED = {"auc_roc": 0.2, "ears": -0.09}
IS_TURNED = "far worse than random scores; if the scores are low for anomalies, pass their negatives"
# Metrics whose value depends on when an event began.
_OF_STARTS = frozenset({"detection_delay", "expected_cost"})


def named(names: Sequence[str], most: int = 5) -> str:
    """Join names for a message, the first of many.

    >>> named(["a", "b", "c"], 2)
    'a, b, ... (3 in all)'
    """
    return ", ".join(names[:most]) + (f", ... ({len(names)} in all)" if len(names) > most else "")


def are(names: Sequence[str]) -> str:
    """Join names, with the verb that belongs to them."""
    return f"{named(names)} {'are' if names[1:] else 'is'}"


# Notes on one result.


def count_notes(rows: Sequence[Row]) -> list[str]:
    """Say of the rows of one scoring which points and scores were left out, and what rules were fitted on."""
    counts = {name: rows[0].get(name) or 0 for name in COUNTS} if rows else dict.fromkeys(COUNTS, 0)
    unseen = f"{counts['ignored_events']} whole event{'s' * (counts['ignored_events'] != 1)}"
    found = []
    if counts["ignored_points"]:
        more = f", and with them {unseen}" if counts["ignored_events"] else ""
        found.append(f"{counts['ignored_points']} points are not judged{more}")
    elif counts["ignored_events"]:
        found.append(f"{unseen} without a score {'is' if counts['ignored_events'] == 1 else 'are'} not judged")
    if counts["dropped"]:
        found.append(f"{counts['dropped']} points without a score were left out")
    if counts["idle_spans"]:
        found.append(f"no span of {hint('ignore=', '--ignore')} has a point inside")
    if counts["missing_scores"]:
        found.append(f"{counts['missing_scores']} scores are missing, so without alarm")
    if counts["fit_scores"]:
        found.append(f"rules without labels are fitted on {counts['fit_scores']} other scores")
    late = counts["late_events"]
    if late and any(row.get("metric", "").partition("(")[0] in _OF_STARTS for row in rows):
        what = "1 event begins" if late == 1 else f"{late} events begin"
        found.append(f"{what} right after a gap in the times: delays count from the first point after it")
    return found


def label_notes(rows: Iterable[Row]) -> list[str]:
    """Say which thresholds were chosen with the labels, a line for each rule.

    >>> label_notes([{"rule": "best", "origin": Origin.BEST, "uses_labels": True}])
    ['threshold best: chosen with the labels for each metric, an upper bound']
    """
    words: dict[Origin | None, str] = {
        Origin.BEST: "chosen with the labels for each metric, an upper bound",
        Origin.BEST_OF_ONE: "the one that is best for that metric, chosen with the labels",
        Origin.BUDGET: "that of most events within this budget of false alarms, chosen with the labels",
    }
    found = {row["rule"]: row.get("origin") for row in rows if row.get("uses_labels") and row["rule"]}
    return [f"threshold {rule}: {words.get(found[rule], 'chosen with the labels')}" for rule in sorted(found)]


def upside_down(rows: Iterable[Row]) -> str:
    """Name the metrics by which scores are far worse than random ones, as if they were low for anomalies.

    >>> upside_down([{"metric": "auc_roc", "value": 0.03}, {"metric": "f1", "value": 0.0}])
    'auc_roc'
    """
    values: dict[str, list[float]] = {}
    for row in rows:
        if row["metric"] in _TURNED:
            values.setdefault(row["metric"], []).append(row["value"])
    return ", ".join(name for name, found in values.items() if finite_mean(found) < _TURNED[name])


# Warnings.


def by_reason(lacking: Iterable[tuple[str, str, str]]) -> list[tuple[str, list[str], list[str]]]:
    """Put together (reason, metric, place): for each reason the metrics that have it in the same places.

    >>> by_reason([("no alarm", "f1", "a"), ("no alarm", "recall", "a"), ("no alarm", "cost", "b")])
    [('no alarm', ['f1', 'recall'], ['a']), ('no alarm', ['cost'], ['b'])]
    """
    places: dict[tuple[str, str], list[str]] = {}
    for reason, metric, place in lacking:
        places.setdefault((reason, metric), []).append(place)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (reason, metric), found in places.items():
        together.setdefault((reason, tuple(found)), []).append(metric)
    return [(reason, metrics, list(found)) for (reason, found), metrics in together.items()]


def warn_of_undefined(rows: Iterable[Row]) -> None:
    """Warn once for each reason why metrics have no value; rows may name a series, and a detector."""
    rows = list(rows)
    detectors: dict[tuple[str, str], set[str]] = {}  # of a metric on a series: who was evaluated there
    for row in rows:
        detectors.setdefault((row.get("series", ""), row["metric"]), set()).add(row.get("detector", ""))
    causes: dict[tuple[str, str, str], set[str]] = {}  # message, metric and series -> detectors
    for row in rows:
        if row["message"] is not None and row["status"] != "missing":
            causes.setdefault((row["message"], row["metric"], row.get("series", "")), set()).add(
                row.get("detector", "")
            )
    lacking = []
    for (message, metric, series), who in causes.items():
        some = "" if who == detectors[series, metric] else ", ".join(sorted(who))
        lacking.append((message, metric, f"{series} ({some})" if series and some else series or some))
    rest = "; averages are over the other series" if len({row.get("series") for row in rows}) > 1 else ""
    for message, metrics, places in by_reason(lacking):
        warn_undefined(", ".join(metrics), message + rest, on=named(list(filter(None, places))))


def warn_of_alarms(odd: Mapping[str, OddAlarms | None]) -> None:
    """Warn once of each rule that raised no alarm at all, or alarmed everywhere, and name the series."""
    together: dict[tuple[str, Origin, bool], dict[str, float | None]] = {}
    for place, found in odd.items():
        if found is not None:
            together.setdefault(found[:3], {})[place] = found.threshold
    for (rule, origin, everywhere), places in together.items():
        known = list(filter(None, places))
        thresholds = set(places.values()) - {None}
        threshold = "".join(f" (threshold {one:.6g})" for one in thresholds) if len(thresholds) == 1 else ""
        on = f" on {named(known)}" if known else ""
        if origin == Origin.BEST_OF_ONE:
            advice = "no threshold tells anomalous from normal points"
        elif origin == Origin.SCORES:
            advice = "all scores are equal"
        else:
            best = hint('threshold="best"', "--threshold best")
            advice = f"choose another threshold, or {best}"
        what = f"the rule {rule}{threshold} {'raises an alarm at all points' if everywhere else 'raises no alarm'}{on}"
        warn(f"{what}, so metrics of predictions say little: {advice}", ThresholdWarning)


# Remarks on a comparison: how thresholds were chosen, which values are missing, what averages cover.


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
    for detector, title in titles.items():
        if turned := upside_down(row for row in rows if row["detector"] == detector):
            notes.append(f"{title}, {turned}: {IS_TURNED}")
    without = {(row["series"], row["detector"]) for row in rows if row.get("dropped")}
    if without:
        how = "left out" if missing in ("skip", "ignore") else "taken as lower than all others"
        notes.append(f"points without a score were {how} in {len(without)} scoring{'s' * (len(without) > 1)}")
    return notes + undefined_everywhere(rows, metrics) + fewer_series(rows, metrics, titles, missing)


def odd_remarks(odd: Odd, titles: Mapping[str, str], rows: Iterable[Row]) -> list[str]:
    """Say which detectors alarm everywhere, or nowhere, and on how many series of the rows."""
    series = {row["series"] for row in rows}
    counts: dict[bool, dict[str, int]] = {}
    for (where, detector), found in odd.items():
        if found is not None and where in series:
            of_kind = counts.setdefault(found.everywhere, {})
            of_kind[titles[detector]] = of_kind.get(titles[detector], 0) + 1
    lines = []
    for everywhere, places in counts.items():
        names = [f"{name} (on {count} of {len(series)} series)" for name, count in places.items()]
        who = named(list(places) if len(series) == 1 else names)
        lines.append(f"{'an alarm at all points' if everywhere else 'no alarm'}: {who}; {SAYS_LITTLE}")
    return lines


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
    have: dict[tuple[str, str], set[str]] = {(d, m): set() for d in titles for m in metrics}
    series = set()
    for row in rows:
        series.add(row["series"])
        if math.isfinite(row["value"]):
            have[row["detector"], row["metric"]].add(row["series"])
    # A series on which nobody has a value is named elsewhere.
    most = {metric: len(set().union(*(have[d, metric] for d in titles))) for metric in metrics}
    together: dict[tuple[tuple[Share, tuple[str, ...]], ...], list[str]] = {}
    for detector, title in titles.items():
        shares: dict[Share, list[str]] = {}
        for metric in metrics:
            shares.setdefault((len(have[detector, metric]), most[metric]), []).append(metric)
        if any(count < known for count, known in shares) and (only is None or detector in only):
            together.setdefault(tuple((share, tuple(some)) for share, some in shares.items()), []).append(title)
    rest = ", and the worst of all detectors on the others" if missing == "worst" else ""
    if len(together) > LINES:
        names = [name for some in together.values() for name in some]
        counts = [count for parts in together for (count, known), _ in parts if count < known]
        over = f"{min(counts)} to {max(counts)} of {max(most.values())} series"
        return [f"{named(names)}: averages over {over}{rest}; to_frame() has all values"]
    words = _no_value if len(series) == 1 else _averages
    return [f"{named(names)}: {words(parts)}{rest}" for parts, names in together.items()]


def _no_value(parts: Sequence[tuple[Share, Sequence[str]]]) -> str:
    """What a detector lacks on a single series."""
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
    found: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["status"] != "missing":
            found.setdefault((row["series"], row["metric"]), []).append(row)
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
