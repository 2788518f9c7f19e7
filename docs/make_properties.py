"""Write docs/properties.md: metrics by properties, checked on all small cases (a few minutes).

python docs/make_properties.py
"""

from pathlib import Path

import measured

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


def measure():
    """Check all metrics, and keep what came out: a row for each property."""
    table = check_properties("all")
    rows = []
    for name in CHECKS:
        found = [row for row in table.rows if row["property"] == name]
        examples = {row["metric"]: [row["options"], str(row["example"])] for row in found if row["status"] == "fails"}
        status = {metric: table.status(metric, name) for metric in METRICS}
        cases = max(row["cases"] for row in found)
        rows.append({"property": name, "cases": cases, "status": status, "examples": examples})
    measured.write("properties", rows)


def page():
    rows = measured.read("properties")
    properties = [[c.name, c.relation, c.sentence] for c in CHECKS.values()]
    grid = [[f"`{metric}`", *(MARKS[row["status"][metric]] for row in rows)] for metric in rows[0]["status"]]
    claims = [
        [f"`{n}`", *("always" if c in metric.properties else "" for c in CLAIMS)] for n, metric in METRICS.items()
    ]
    parts = [
        HEAD,
        measured.table(["property", "must be", "what it says"], "lll", properties),
        "## Metrics by properties",
        measured.table(["metric", *(row["property"] for row in rows)], "l" + "c" * len(rows), grid),
        "## Claims of the records",
        "; ".join(f"*{c}*: {w}" for c, w in CLAIMS.items()) + ".",
        measured.table(["metric", *CLAIMS], "l" + "c" * len(CLAIMS), claims),
        "## Smallest counterexamples",
    ]
    for row in rows:
        examples = "\n".join(f"- `{options}`: {example}" for options, example in row["examples"].values())
        none = "" if examples else " No counterexample."
        parts += [f"### {row['property']}\n\nOn up to {row['cases']:,} cases.{none}", *([examples] if examples else [])]
    return "\n\n".join(part.strip() for part in parts) + "\n"


if __name__ == "__main__":
    measure()
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {PAGE}")
