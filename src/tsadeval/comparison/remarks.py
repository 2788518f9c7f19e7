"""Remarks on a comparison: how thresholds were chosen, which values are missing, what averages cover."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from tsadeval.core.metric import BINARY
from tsadeval.core.results import Row
from tsadeval.core.setting import Missing
from tsadeval.evaluation.single import IS_TURNED, OddAlarms, chosen_with_labels, named, upside_down

# By series and detector what is odd about the alarms there.
Odd = Mapping[tuple[str, str], OddAlarms | None]

Share = tuple[int, int]  # on how many series a detector has values of a metric, of those on which anyone has
SAYS_LITTLE = "metrics of predictions say little there, even where they are first"
LINES = 6  # about averages over fewer series; of more there is one


def remarks_of(
    rows: Sequence[Row], metrics: Sequence[str], titles: Mapping[str, str], missing: Missing, odd: Odd
) -> list[str]:
    """All remarks about some rows of a comparison; `titles` has its detectors, as tables show them."""
    rules = {row["rule"] for row in rows if row.get("rule")}
    notes = chosen_with_labels(rules)
    others = sorted(rule for rule in rules if rule != BINARY and not rule.startswith("best"))
    notes += [f"alarms: {', '.join(others[:3])}{', ...' * (len(others) > 3)}"] if others else []
    binary = dict.fromkeys(titles[row["detector"]] for row in rows if row.get("rule") == BINARY)
    notes += [f"{named(list(binary))}: scores of 0 and 1 are taken as alarms"] if binary else []
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
    """Which detectors alarm everywhere, or nowhere, and on how many series of the rows."""
    series = {row["series"] for row in rows}
    counts: dict[str, dict[str, int]] = {}
    for (where, detector), found in odd.items():
        if found is not None and where in series:
            of_kind = counts.setdefault(found.what, {})
            of_kind[titles[detector]] = of_kind.get(titles[detector], 0) + 1
    lines = []
    for what, places in counts.items():
        names = [f"{name} (on {count} of {len(series)} series)" for name, count in places.items()]
        who = named(list(places) if len(series) == 1 else names)
        lines.append(f"{what.removeprefix('raises ')}: {who}; {SAYS_LITTLE}")
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
    """A line for each reason why metrics are undefined on a series, whatever the detector.

    >>> row = {"series": "a", "metric": "f1", "status": "undefined", "message": "y_true has no anomalous point (no 1)"}
    >>> undefined_everywhere([row], ["f1", "cce"])
    ['a has no anomalous point: f1 is undefined there']
    """
    reasons: dict[tuple[str, str], set[str | None]] = {}
    for row in rows:
        if row["status"] != "missing":
            reason = row["message"] if row["status"] == "undefined" else None
            reasons.setdefault((row["series"], row["metric"]), set()).add(reason)
    by_series: dict[tuple[str, str], list[str]] = {}  # (series, reason) -> metrics
    for (series, metric), found in reasons.items():
        known = sorted(reason for reason in found if reason is not None)
        if len(known) == len(found):  # no detector has a value
            of_labels = [reason for reason in known if reason.startswith("y_true has ")]
            by_series.setdefault((series, of_labels[0] if of_labels else "; ".join(known)), []).append(metric)
    together: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (series, reason), names in by_series.items():
        together.setdefault((reason, tuple(names)), []).append(series)
    lines = []
    for (reason, undefined), places in together.items():
        are = "are" if undefined[1:] else "is"
        what = "metrics are" if len(undefined) == len(metrics) > 1 else f"{', '.join(undefined)} {are}"
        where, lacks = named([one or "the series" for one in places]), reason.partition(" (")[0]
        if lacks.startswith("y_true has "):
            has = f"{'have' if places[1:] else 'has'}{lacks.removeprefix('y_true has')}"
            lines.append(f"{where} {has}: {what} undefined there")
        else:
            lines.append(f"{where}: {what} undefined ({reason})")
    return lines
