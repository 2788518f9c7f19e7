"""Write docs/properties.md: metrics by properties, checked on all small cases (a few minutes).

python docs/make_properties.py
"""

from pathlib import Path

from tsadeval.core.metric import METRICS
from tsadeval.core.metric import PROPERTIES as CLAIMS
from tsadeval.rankeval import check_properties
from tsadeval.rankeval.properties import CHECKS, LONG, RANDOM_CASES, SMALL

PAGE = Path(__file__).parent / "properties.md"

HEAD = f"""# Properties of the metrics

Written by `docs/make_properties.py`, which runs `te.rankeval.check_properties("all")`. What should a metric do? Finding more events should be
better, a false alarm less should be better, and so on. Each line below is such a property as an executable check: two predictions that differ
in one respect, of which the second must be better, not worse, or equal. All labels and predictions of up to {SMALL} points are tried, the
shortest first, so a counterexample is the smallest there is; then {RANDOM_CASES} random cases of {LONG} points. Metrics of scores get the
predictions as scores of 0 and 1 (of three levels where a property is about scales), and widths in points (VUS, PATE, TaPR) are 2, to fit. The lists of properties by Wagner et al. (arXiv
2510.17562) and of earlier surveys were read for ideas; the definitions are ours.

**always**: by the definition of the metric (the record claims it, and the tests of the library check the claim). **yes**: holds on all cases
tried. **no**: fails, with the example below. Not every property is for everybody: whoever wants all points to count alike does not want
"any event". How much metrics move under changes that should not matter, on realistic series, is in [hard.md](hard.md).
"""

MARKS = {"by definition": "always", "holds": "yes", "fails": "no", "undefined": ""}


def main():
    table = check_properties("all")
    lines = ["| property | must be | what it says |", "|---|---|---|"]
    lines += [f"| {c.name} | {c.relation} | {c.sentence} |" for c in CHECKS.values()]
    properties = "\n".join(lines)
    head = ["metric", *CHECKS]
    lines = ["| " + " | ".join(head) + " |", "|---|" + ":-:|" * len(CHECKS)]
    for metric in METRICS:
        marks = [MARKS[table.status(metric, name)] for name in CHECKS]
        lines.append(f"| `{metric}` | " + " | ".join(marks) + " |")
    grid = "\n".join(lines)
    lines = ["| metric | " + " | ".join(CLAIMS) + " |", "|---|" + ":-:|" * len(CLAIMS)]
    for name, metric in METRICS.items():
        lines.append(f"| `{name}` | " + " | ".join("always" if c in metric.properties else "" for c in CLAIMS) + " |")
    claims = "\n".join(lines)
    counts = {name: max(r["cases"] for r in table.rows if r["property"] == name) for name in CHECKS}
    examples = []
    for name in CHECKS:
        failed = [row for row in table.rows if row["property"] == name and row["status"] == "fails"]
        examples.append(f"### {name}\n\nOn up to {counts[name]:,} cases. " + ("" if failed else "No counterexample."))
        examples += ["\n".join(f"- `{row['options']}`: {row['example']}" for row in failed)] if failed else []
    page = [
        HEAD,
        properties,
        "## Metrics by properties\n\n" + grid,
        "## Claims of the records\n\n" + "; ".join(f"*{c}*: {w}" for c, w in CLAIMS.items()) + ".\n\n" + claims,
        "## Smallest counterexamples",
        *examples,
    ]
    PAGE.write_text("\n\n".join(part.strip() for part in page) + "\n", encoding="utf-8")
    print(f"wrote {PAGE}")


if __name__ == "__main__":
    main()
