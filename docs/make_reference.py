"""Write docs/metrics.md from the registry, and add new metrics to the golden values of this version.

    python docs/make_reference.py           # or: make generated

A test fails when the page is older than the registry.
"""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import tsadeval.metrics
from tsadeval.core.docstrings import sections
from tsadeval.core.metric import METRICS, PROPERTIES, Metric

PAGE = Path(__file__).parent / "metrics.md"

HEAD = """# The metrics

Written by `make generated` from the registry, so it cannot differ from the code. Each entry says which definition it is
and which packages it equals, at which parameters: a name is not a definition. Where a package computes something else
than its own definition, `errata.md` has the smallest input that shows it.

Every metric is a function in `tsadeval.metrics` and a name for `te.evaluate`, `te.best_threshold` and
`tsadeval score --metrics`. `f(y_true, y_score)` takes scores, `f(y_true, y_pred)` binary predictions; options are
keywords.
"""

OTHERS = """# Precision, recall and F at once, and explanations

These return more than one number, so they are no metrics of the registry. A part that is undefined is NaN, with a
warning.
"""


def options_list(text: str) -> str:
    """Parameters as bullets, without the two arrays, which are the same everywhere."""
    lines = []
    # A docstring may have no such section, because it refers to a relative: splitting "" would give one empty entry.
    for entry in re.split(r"\n(?=\S)", text.strip("\n")) if text.strip() else ():
        head, _, body = entry.partition("\n")
        name, _, kind = head.partition(" : ")
        if name in ("y_true", "y_score", "y_pred", "y_true, y_score", "y_true, y_pred"):
            continue
        lines.append(
            f"- **{name}** ({kind}). {' '.join(body.split())}" if kind else f"- **{name}**. {' '.join(body.split())}"
        )
    return "\n".join(lines)


def number(value: float) -> str:
    return f"{value:g}".replace("inf", "∞")


def entry(metric: Metric) -> str:
    doc = sections(inspect.getdoc(metric.function) or "")
    low, high = metric.range
    facts = [
        f"takes {metric.kind}",
        f"range [{number(low)}, {number(high)}], {metric.direction} is better",
        "always defined" if metric.undefined == "never" else f"undefined where {metric.undefined}",
    ]
    if metric.best:
        facts.append("best threshold exact over all distinct scores")
    if metric.sets:
        facts.append(f"in the sets {', '.join(sorted(metric.sets))}")
    text = [f"## `{metric.name}`", f"*{metric.label}.* {doc['']}", "; ".join(facts).capitalize() + "."]
    if options := options_list(doc.get("Parameters", "")):
        text.append(options)
    if metric.properties:
        text.append(
            "Holds at the default options: "
            + "; ".join(PROPERTIES[p] for p in PROPERTIES if p in metric.properties)
            + "."
        )
    text.append(f"```python\n{inspect.cleandoc(doc.get('Examples', ''))}\n```")
    text.append("References: " + "; ".join(metric.references) + ".")
    return "\n\n".join(text)


def plain_entry(name: str) -> str:
    """A public function that is no metric: the parts of a family at once, or an explanation."""
    doc = sections(inspect.getdoc(getattr(tsadeval.metrics, name)) or "")
    text = [f"## `{name}`", doc[""]]
    if options := options_list(doc.get("Parameters", "")):
        text.append(options)
    return "\n\n".join([*text, f"```python\n{inspect.cleandoc(doc.get('Examples', ''))}\n```"])


def page() -> str:
    names = sorted(METRICS)
    overview = ["| metric | label | takes | what it is |", "|---|---|---|---|"]
    overview += [f"| [`{n}`](#{n}) | {METRICS[n].label} | {METRICS[n].kind} | {METRICS[n].summary} |" for n in names]
    others = [n for n in dir(tsadeval.metrics) if n not in METRICS and inspect.isfunction(getattr(tsadeval.metrics, n))]
    parts = [HEAD, "\n".join(overview), "", "\n\n".join(entry(METRICS[n]) for n in names), "", OTHERS]
    return "\n".join([*parts, "\n\n".join(plain_entry(n) for n in others), ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
    subprocess.run([sys.executable, PAGE.parents[1] / "tests" / "golden" / "make_values.py"], check=True)
