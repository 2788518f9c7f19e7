"""What the pages of the repository say of one metric: properties, gameability, speed, other packages, errata.

Nothing is written here: every number is in a table of docs/, and every function says so where a metric is not in it.
"""

import inspect
import re
from functools import cache
from pathlib import Path

from tsadeval.core.metric import PROPERTIES, Metric

DOCS = Path(__file__).resolve().parents[1]
# How the items of the errata that concern a metric begin; those on CCE have a part of their own.
RANGES = ("Ends of events", "Range-based F1", "aeon 1.6, range-based F")
VOLUMES = ("Ends of events", "FF-VUS", "vus 0.0.6")
WINDOWS = ("timeeval 1.5, range-AUC", "vus 0.0.6")
SHARES = ("PA%K credits", "tadpak")
NEAR = ("tsadmetrics 1.0.16, total detected",)
ERRATA: dict[str, tuple[str, ...]] = {
    "absolute_detection_distance": ("tsadmetrics 1.0.16, absolute detection distance",),
    "affiliation_f1": ("Thresholds", "dtaianomaly 0.5.1, best threshold of affiliation"),
    "auc_roc": ("AUC-ROC",),
    "balanced_f1_pa": ("tsadmetrics 1.0.16, balanced point adjustment",),
    "composite_f1": ("TSB-AD 1.5, event-based F1",),
    "detection_accuracy_in_range": NEAR,
    "detection_delay": ("tsadmetrics 1.0.16, mean time to detect",),
    "etapr_f1": ("Thresholds", "eTaPR fails", "TaPR / eTaPR"),
    "f1_pa": ("F1-PA",),
    "f1_pa_k": SHARES,
    "latency_sparsity_f1": ("tsadmetrics 1.0.16, latency- and sparsity-aware F",),
    "nab_score": ("NAB",),
    "normalized_affiliation_f1": ("tsadmetrics 1.0.16, normalized affiliation",),
    "pa_k_auc": SHARES,
    "pate": ("PATE",),
    "pate_f1": ("PATE",),
    "range_auc_pr": WINDOWS,
    "range_auc_roc": WINDOWS,
    "range_f1": RANGES,
    "range_precision": RANGES,
    "range_recall": RANGES,
    "reduced_f1": ("Reduced-F1",),
    "tapr_f1": ("TaPR / eTaPR",),
    "temporal_distance": ("tsadmetrics 1.0.16, temporal distance",),
    "total_detected_in_range": NEAR,
    "unbiased_affiliation_f1": ("Thresholds", "Unbiased affiliation F1"),
    "vus_pr": VOLUMES,
    "vus_roc": VOLUMES,
}
NOT_FIRST = "Definitions that do not give the labels their largest value"
# Metrics that have not been through docs/make_properties.py, make_audit.py, make_hard.py and benchmarks/metrics.py, and the
# sentence that their page has instead of the numbers.
NOT_MEASURED: dict[str, str] = {}
Rows = list[list[str]]


def module(metric: Metric) -> str:
    return metric.function.__module__.rpartition(".")[2]


@cache
def tables(page: str) -> list[tuple[str, list[str], Rows]]:
    """Every table of a page, with the heading above it, its columns and rows."""
    heading, found, lines = "", [], (DOCS / page).read_text(encoding="utf-8").split("\n")
    for i, line in enumerate(lines):
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if re.match(r"^\|[-:| ]+\|$", line):
            rows, at = [], i + 1
            while at < len(lines) and lines[at].startswith("|"):
                rows.append([cell.strip() for cell in lines[at].strip("|").split("|")])
                at += 1
            found.append((heading, [cell.strip() for cell in lines[i - 1].strip("|").split("|")], rows))
    return found


def named(cell: str) -> str:
    return cell.strip("`").partition(" at ")[0]


def properties(metric: Metric) -> str:
    """The checks that hold and those that fail, with the smallest example."""
    text = (DOCS / "properties.md").read_text(encoding="utf-8")
    sentences = {
        row[0]: row[2]
        for _, head, rows in tables("properties.md")
        if head[:2] == ["property", "must be"]
        for row in rows
    }
    marks = next(
        (
            dict(zip(head[1:], row[1:], strict=True))
            for heading, head, rows in tables("properties.md")
            if heading == "Metrics by properties"
            for row in rows
            if named(row[0]) == metric.name
        ),
        None,
    )
    if marks is None:
        return NOT_MEASURED[metric.name]
    examples = {}
    for name, part in re.findall(r"^### ([^\n]+)\n(.*?)(?=^### |\Z)", text, flags=re.MULTILINE | re.DOTALL):
        for options, example in re.findall(r"^- `([^`]+)`: (.+)$", part, flags=re.MULTILINE):
            if options.partition("(")[0] == metric.name:
                examples[name] = example
    lines = []
    for name, mark in marks.items():
        sign = {"always": "✓", "yes": "✓", "no": "✗", "": "·"}[mark]
        more = f" Not here: {examples[name]}." if name in examples else ""
        more = " Undefined on the cases tried." if mark == "" else more
        lines.append(f"- {sign} {sentences[name]}.{more}")
    claims = "; ".join(PROPERTIES[p] for p in PROPERTIES if p in metric.properties)
    by_definition = f"By definition: {claims}.\n\n" if claims else ""
    return (
        by_definition
        + "On all cases of a few points ([how this was checked](../properties.md)):\n\n"
        + "\n".join(lines)
    )


def named_options(cell: str) -> str:
    """The name of a metric in a cell such as `f1_pa_k(k=0.5)`."""
    return re.split(r"[( ]", cell.strip("`"))[0]


def trust(metric: Metric) -> str:
    """Gameability on real scores and the place in the hard suite."""
    found = []
    for heading, head, rows in tables("audit.md"):
        if not heading.startswith("All metrics on "):
            continue
        for row in rows:
            if named(row[0]) != metric.name:
                continue
            facts = dict(zip(head[1:], row[1:], strict=True))
            reached = facts["gameability"]
            share = "undefined" if reached == "undefined" else f"{float(reached):.0%}"
            found.append(
                f"- [{heading.removeprefix('All metrics on ')}](../audit.md#gameability-of-all-metrics): gameability {share}, "
                "the share of the series on which a scorer without skill reaches 90 % of the best detector; "
                f"uniform random scores get {facts['random']} on average."
            )
    for heading, head, rows in tables("hard.md"):
        if heading == "All metrics" and head[:2] == ["metric", "index"]:
            for place, row in enumerate(rows, 1):
                if named(row[0]) == metric.name:
                    rule = row[0].strip("`").partition(" at ")[2]
                    rule = f" at `{rule}`" if rule else ""
                    found.append(
                        f"- [Hard suite](../hard.md){rule}: index {row[1]} (1: puts all detectors in the right order), place {place} of {len(rows)}."
                    )
    return "\n".join(found) or NOT_MEASURED[metric.name]


def speed(metric: Metric) -> str:
    for heading, head, rows in tables("benchmarks.md"):
        if heading.startswith("All metrics") and head[:3] == ["call", "ms", "sorts"]:
            for row in rows:
                if row[0] == metric.name:
                    return f"{row[1]} ms for 100,000 points, {row[2]} times one `np.sort` of the scores ([how it was measured](../benchmarks.md))."
    return NOT_MEASURED[metric.name]


def timed_peers(metric: Metric) -> list[str]:
    """Packages that were timed beside ours on long series."""
    lines = []
    for _, head, rows in tables("benchmarks.md"):
        if head[:2] == ["metric", "peer"]:
            for row in rows:
                if metric.name in re.split(r"[ (+]+", row[0]):
                    options = f" (`{row[0]}`)" if row[0] != metric.name else ""
                    lines.append(f"| {row[1]}{options} | {row[8]} | {row[7] or row[4]} | {row[9]} |")
    if not lines:
        return []
    return [
        "On series of 10,000 and 100,000 points:",
        "\n".join(
            ["| package | largest difference | times slower at 100,000 points | note |", "|---|--:|--:|---|", *lines]
        ),
    ]


def random_peers(metric: Metric) -> list[str]:
    """The counterpart in tsadmetrics, on many short series."""
    lines = [
        f"| {theirs} | {ours} | {equal} | {difference} | {remark} |"
        for _, head, rows in tables("peers-tsadmetrics.md")
        if head[:2] == ["tsadmetrics", "tsadeval"]
        for theirs, ours, equal, difference, remark, *_ in rows
        if named_options(ours) == metric.name
    ]
    if not lines:
        return []
    head = ["| tsadmetrics | here | equal | largest difference | remark |", "|---|---|--:|--:|---|"]
    return ["On [random series of 5 to 60 points](../peers-tsadmetrics.md):", "\n".join([*head, *lines])]


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


@cache
def errata_items() -> list[tuple[str, str, str]]:
    """Part, number and title of all that is in bold in the items of the errata."""
    text = (DOCS / "errata.md").read_text(encoding="utf-8")
    found = []
    for heading, part in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL):
        for number, item in re.findall(r"^(\d+)\. (.*?)(?=^\d+\. |\Z)", part, flags=re.MULTILINE | re.DOTALL):
            found += [(heading, number, title.rstrip(".")) for title in re.findall(r"\*\*(.+?)\*\*", item)]
    return found


def errata(metric: Metric) -> str:
    """The items of the errata that concern the metric, as links to their part of the page."""
    found, packages = [], {}
    for heading, number, title in errata_items():
        package = packages.setdefault(number, title.partition(", ")[0])  # the first title of an item names it
        words = title if title.startswith(package) else f"{package}, {title}"
        if title.startswith(ERRATA.get(metric.name, ())) or heading == metric.label:
            found.append(f"- [Erratum {number}](../errata.md#{section_link(heading)}): {words}.")
    last = (DOCS / "errata.md").read_text(encoding="utf-8").partition(f"## {NOT_FIRST}")[2]
    if f"`{metric.name}`" in last:
        found.append(f"- [{NOT_FIRST}](../errata.md#{section_link(NOT_FIRST)}): this is one of them.")
    return "\n".join(found) or "No [erratum](../errata.md) concerns this metric."
