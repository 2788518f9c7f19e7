"""A page for every metric, grouped by what they measure; written when the site is built.

Text comes from the docstring, numbers from docs/data, where the scripts that measured them keep them: nothing is written twice.
"""

import inspect
import re
import sys
from pathlib import Path

from facts import errata, module, peers, properties, speed, trust
from formulas import FORMULAS
from scenarios import CASES, DRAWS, POINTS, table, verdict

from tsadeval.core.metric import METRICS, Metric, parse_metric
from tsadeval.core.selection import WITH_OPTIONS

DOCS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(DOCS))
from make_reference import number, options_list, plain_entry, sections  # noqa: E402 (the line above makes it importable)

# Title, what is asked, the metrics; in the order of the site. A new family goes where its module stands in HOMES.
GROUPS = {
    "order": (
        "Order of the points",
        "Do anomalous points score higher than normal ones? Over all thresholds, every point by itself.",
    ),
    "events-scores": (
        "Scores around events",
        "The same with events in mind: neighbours, early points and near misses count differently. Over all thresholds, or without one.",
    ),
    "points": ("Alarms, point by point", "Which share of the points is right? Every point has the same cost."),
    "adjusted": (
        "Alarms after point adjustment",
        "One alarm finds a whole event. Random alarms get high values: read [point adjustment](../explanations/point-adjustment.md) first.",
    ),
    "overlap": (
        "Overlap of alarms and events",
        "How much of each event is covered, in how many pieces, and how much of each alarm is right?",
    ),
    "events": (
        "Events and episodes",
        "How many events are found, and how many alarms are right? Each counts once, however long it is.",
    ),
    "distance": ("Distance in time", "How near are alarms to events? Near misses get credit."),
    "time": ("How early", "When is an event found, and when is the alarm over?"),
    "cost": ("Cost of alarms", "What an operator has to look at."),
    "other": ("Further metrics", "Not in one of the groups above."),
}
HOMES = {
    "_ranking": "order",
    "_vus": "events-scores",
    "_pate": "events-scores",
    "_ears": "events-scores",
    "cce_formula": "events-scores",
    "_dqe": "events-scores",
    "_pointwise": "points",
    "_point_adjusted": "adjusted",
    "_range_based": "overlap",
    "_tapr": "overlap",
    "_event_level": "events",
    "_operations": "events",
    "_affiliation": "distance",
    "_distance": "distance",
    "_archives": "time",
}
# Where a metric is not at home with its family.
EXCEPTIONS = {
    "pate_f1": "distance",
    "sdqe": "events",
    "average_detection_count": "overlap",
    "auc_pr_pa": "adjusted",
    "auc_roc_pa": "adjusted",
    "ucr_accuracy": "events-scores",
    "adtqc": "time",
    "detection_delay": "time",
    "early_detection_score": "time",
    "latency_sparsity_f1": "time",
    "lead_time": "time",
    "time_to_recover": "time",
    "false_alarms": "cost",
    "expected_cost": "cost",
    "alarm_episodes": "cost",
    "time_in_alarm": "cost",
}


def group_of(metric: Metric) -> str:
    return EXCEPTIONS.get(metric.name) or HOMES.get(module(metric), "other")


def grouped() -> dict[str, list[Metric]]:
    """The metrics of every group; the recommended ones first."""
    found: dict[str, list[Metric]] = {group: [] for group in GROUPS}
    for metric in METRICS.values():
        found[group_of(metric)].append(metric)
    for metrics in found.values():
        metrics.sort(key=lambda m: ("recommended" not in m.sets, m.name))
    return {group: metrics for group, metrics in found.items() if metrics}


def linked(text: str, name: str) -> str:
    """A text in which names of other metrics lead to their pages."""

    def link(match: re.Match[str]) -> str:
        other = match[1]
        return f"[`{other}`]({other}.md)" if other in METRICS and other != name else match[0]

    return re.sub(r"`(\w+)`", link, text)


def page(metric: Metric) -> str:
    doc = sections(inspect.getdoc(metric.function) or "")
    low, high = metric.range
    facts = {
        "Takes": "anomaly scores"
        if metric.kind == "scores"
        else "alarms of 0 and 1 (`te.evaluate` makes them from scores by a threshold rule)",
        "Range": f"{number(low)} to {number(high)}, {metric.direction} is better",
        "Undefined": "never" if metric.undefined == "never" else f"where {metric.undefined}",
    }
    if metric.best:
        facts["Best threshold"] = "exact over all distinct scores"
        if metric.best_is_trivial:
            name = metric.name
            facts["Best threshold"] += (
                f" (`te.best_threshold({name!r}, ...)`), but it says little here: `threshold='best'` of `te.evaluate` "
                f"takes that of F1, and the row says `best(f1)`; `threshold='best({name})'` takes its own"
            )
    sets = [f"`{name}`" for name in sorted(metric.sets)]
    sets += [
        f"`{name}` (as `{text}`)"
        for name, texts in WITH_OPTIONS.items()
        for text in texts
        if parse_metric(text).name == metric.name
    ]
    if sets:
        facts["In the sets"] = ", ".join(sets)
    facts["Speed"] = speed(metric)
    signature = ", ".join(f"{k}={v!r}" for k, v in metric.parameters.items())
    second = "y_score" if metric.kind == "scores" else "y_pred"
    call = f"te.metrics.{metric.name}(y_true, {second}{', *, ' + signature if signature else ''})"
    text = [
        f"# {metric.label}",
        f"*{metric.summary}*",
        f"```python\n{call}\n```",
        "\n".join(f"- **{key}**: {words}" for key, words in facts.items()),
        "## Definition",
        linked(doc[""].replace("docs/metrics.md", "this page"), metric.name),
    ]
    if metric.name in FORMULAS:
        text += [f"```{{math}}\n{formula}\n```" for formula in FORMULAS[metric.name]]
        text.append("Symbols are those of [the overview](index.md#symbols).")
    text += [
        "## What it rewards and punishes",
        f"The [same ten detectors](index.md#the-common-example) stand on every page: {POINTS:,} points, two events. Events are above, alarms below: "
        '<span class="key found"></span> found, <span class="key false"></span> false, <span class="key missed"></span> missed. Scores are 1 in an alarm and 0 elsewhere; '
        f"random scores are uniform, and their value is the mean of {DRAWS} draws. The bar goes from the worst of the ten to the best.",
        "```{raw} html\n" + table(metric) + "\n```",
        verdict(metric),
    ]
    if options := options_list(doc.get("Parameters", "")):
        text += ["## Options", options]
    text += ["## Example", f"```python\n{inspect.cleandoc(doc.get('Examples', ''))}\n```"]
    text += ["## Can it be trusted?", trust(metric), "## Properties", properties(metric)]
    text += ["## Other packages", peers(metric), "## Errata", errata(metric)]
    text += ["## References", "\n".join(f"- {reference}" for reference in metric.references)]
    return "\n\n".join(text) + "\n"


INDEX = """# Metrics

{count} metrics, by what they ask. Every page has the definition, a picture of what the metric rewards and punishes, its properties, how easily it is fooled, its speed,
the packages it equals, and errata. If you do not know which one you need, start with [Which metric?](../choosing.md)
"""

EXAMPLE = f"""## The common example

Every page shows what its metric gives to the same ten detectors: {POINTS:,} points with a long and a short event. Their names say what is wrong with them:

"""

SYMBOLS = r"""## Symbols

A series has $n$ points with labels $y_i$, scores $s_i$ and alarms $p_i$ (1 where the score reaches the threshold). Events $E_1, \ldots, E_K$ are the runs of $y = 1$, with lengths $L_k$; alarm
runs $A_1, \ldots, A_J$ are the runs of $p = 1$. $TP$, $FP$, $FN$ and $TN$ count points; $[\,\cdot\,]$ is 1 where the condition holds and 0 elsewhere; $d$ is a distance in points.
$P$ and $R$ are a precision and a recall, and
$F_\beta(P, R) = \frac{(1 + \beta^2) P R}{\beta^2 P + R}$.
"""


def index() -> str:
    text = [INDEX.format(count=len(METRICS))]
    for group, metrics in grouped().items():
        title, question = GROUPS[group]
        rows = [f"| [{m.label}]({m.name}.md) | `{m.name}` | {m.summary} |" for m in metrics]
        text += [
            f"({group})=\n## {title}",
            question,
            "\n".join(["| metric | name | what it is |", "|---|---|---|", *rows]),
        ]
        entries = "\n".join(f"{m.label} <{m.name}>" for m in metrics)
        text.append(f"```{{toctree}}\n:hidden:\n:caption: {title}\n\n{entries}\n```")
    text += [
        "## Precision, recall and F at once, and explanations",
        "[Functions that return more than one number](several.md).",
        "```{toctree}\n:hidden:\n\nseveral\n```",
        EXAMPLE + "\n".join(f"- **{case.name}**: {case.words}" for case in CASES),
        SYMBOLS,
    ]
    return "\n\n".join(text)


def several() -> str:
    import tsadeval.metrics

    names = [n for n in dir(tsadeval.metrics) if n not in METRICS and inspect.isfunction(getattr(tsadeval.metrics, n))]
    head = "# Several numbers at once\n\nThese return more than one number, so they are no metrics of the registry. A part that is undefined is NaN, with a warning."
    return "\n\n".join([head, *(plain_entry(name) for name in names)]) + "\n"


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.md").write_text(index(), encoding="utf-8")
    (folder / "several.md").write_text(several(), encoding="utf-8")
    for metric in METRICS.values():
        (folder / f"{metric.name}.md").write_text(page(metric), encoding="utf-8")


assert len({case.name for case in CASES}) == len(CASES)
