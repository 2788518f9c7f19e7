"""What was found out about one metric: properties, gameability, speed, other packages, errata.

Nothing is written here: it is in docs/data, and every function says so where a metric is not in it.
"""

import inspect
import re
import sys
from functools import cache
from pathlib import Path

from tsadeval.core.metric import PROPERTIES, Metric
from tsadeval.rankeval.properties import CHECKS

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import measured  # the line above makes it importable
from measured import table

read = cache(measured.read)
# Metrics that have not been through docs/make_properties.py, make_audit.py, make_hard.py and benchmarks/metrics.py, and the
# sentence that their page has instead of the numbers.
NOT_MEASURED: dict[str, str] = {}


def module(metric: Metric) -> str:
    return metric.function.__module__.rpartition(".")[2]


def properties(metric: Metric) -> str:
    """The checks that hold and those that fail, with the smallest example."""
    rows = [row for row in read("properties") if metric.name in row["status"]]
    if not rows:
        return NOT_MEASURED[metric.name]
    lines = []
    for row in rows:
        status = row["status"][metric.name]
        sign = {"by definition": "✓", "holds": "✓", "fails": "✗", "undefined": "·"}[status]
        more = " Undefined on the cases tried." if status == "undefined" else ""
        more = f" Not here: {row['examples'][metric.name][1]}." if status == "fails" else more
        lines.append(f"- {sign} {CHECKS[row['property']].sentence}.{more}")
    claims = "; ".join(PROPERTIES[p] for p in PROPERTIES if p in metric.properties)
    by_definition = f"By definition: {claims}.\n\n" if claims else ""
    return (
        by_definition
        + "On all cases of a few points ([how this was checked](../properties.md)):\n\n"
        + "\n".join(lines)
    )


def trust(metric: Metric) -> str:
    """Gameability on real scores and the place in the hard suite."""
    found = []
    for row in read("audit"):
        if row["metric"] == metric.name:
            share = "undefined" if row["gameability"] is None else f"{row['gameability']:.0%}"
            chance = "undefined" if row["random"] is None else f"{row['random']:.2f}"
            found.append(
                f"- [{row['data']}](../audit.md#gameability-of-all-metrics): gameability {share}, "
                "the share of the series on which a scorer without skill reaches 90 % of the best detector; "
                f"uniform random scores get {chance} on average."
            )
    hard = read("hard")
    for place, row in enumerate(hard, 1):
        name, _, rule = row["name"].partition(" at ")
        if name == metric.name:
            at = f" at `{rule}`" if rule else ""
            index = f"{row['index']:.3f} [{row['index_low']:.2f}, {row['index_high']:.2f}]"
            found.append(
                f"- [Hard suite](../hard.md){at}: index {index} (1: puts all detectors in the right order), place {place} of {len(hard)}."
            )
    return "\n".join(found) or NOT_MEASURED[metric.name]


def speed(metric: Metric) -> str:
    for row in read("speed"):
        if row["call"] == metric.name:
            return f"{row['ms']:.3f} ms for 100,000 points, {row['sorts']:.2f} times one `np.sort` of the scores ([how it was measured](../benchmarks.md))."
    return NOT_MEASURED[metric.name]


def timed_peers(metric: Metric) -> list[str]:
    """Packages that were timed beside ours on long series."""
    cells = []
    for row in read("peers"):
        if metric.name in re.split(r"[ (+]+", row["metric"]):
            options = f" (`{row['metric']}`)" if row["metric"] != metric.name else ""
            ratio = row["ratio_100k"] or row["ratio_10k"]
            cells.append([f"{row['peer']}{options}", row["difference"], ratio, row["note"]])
    heads = ["package", "largest difference", "times slower at 100,000 points", "note"]
    return ["On series of 10,000 and 100,000 points:", table(heads, "lrrl", cells)] if cells else []


def random_peers(metric: Metric) -> list[str]:
    """The counterpart in tsadmetrics, on many short series."""
    cells = [
        [f"`{row['theirs']}`", f"`{row['ours']}`", row["equal"], row["difference"], row["remark"]]
        for row in read("peers-tsadmetrics")
        if row["ours"].partition("(")[0] == metric.name
    ]
    made = table(["tsadmetrics", "here", "equal", "largest difference", "remark"], "llrrl", cells)
    return ["On [random series of 5 to 60 points](../peers-tsadmetrics.md):", made] if cells else []


def peers(metric: Metric) -> str:
    """What other packages give on the same input."""
    text = inspect.getdoc(metric.function) or ""
    tested = timed_peers(metric) + random_peers(metric)
    if tested:
        return "\n\n".join(tested)
    if "the peers named in `" in text:
        return "The packages are named where [all numbers of the family](several.md) are computed at once."
    if re.search(r"\bEquals?\b|authors' (package|repository)|ESA-ADB", text):
        return "The definition above names what it was compared with. It was not timed beside ours."
    return (
        "No package that it was compared with has this metric by this definition. The tests compare it with a slow "
        "version that follows the definition word by word (`tests/naive/`)."
    )


def section_link(heading: str) -> str:
    """The anchor that Sphinx makes of a heading."""
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).strip().replace(" ", "-")


def errata(metric: Metric) -> str:
    """The items of the errata that concern the metric, as links to their part of the page."""
    found = []
    for row in read("errata"):
        if metric.name in row["metrics"]:
            name = f"Erratum {row['number']}" if row["number"] else row["part"]
            found.append(f"- [{name}](../errata.md#{section_link(row['part'])}): {row['words']}.")
    return "\n".join(found) or "No [erratum](../errata.md) concerns this metric."
