"""Write docs/audit.md from audits of two tables of real scores.

    python docs/make_audit.py DATA runs

DATA holds `Theseus` (a Parquet file per data set) and `NAB_results/scores.parquet`: series, value, label, a column per
detector. The values are kept in two stores in the folder `runs`.
"""

import math
import sys
from pathlib import Path

import measured

import tsadeval as te
from tsadeval import plot
from tsadeval.plot.style import new_figure
from tsadeval.rankeval.suites.audit import ADVERSARIES

HERE = Path(__file__).parent
FIGURES = HERE / "figures"
METRICS = "all,cce(normalize=robust)"
# Of the published scores of NAB, two detectors are no detectors: constant and random.
NOT_REAL = ("null", "random")

# What the tables show; all metrics are in the stores.
SHOWN = [
    "ears",
    "cce(normalize='robust')",
    "cce",
    "vus_pr",
    "pate",
    "auc_pr",
    "best_f1",
    "auc_roc",
    "vus_roc",
    "f1",
    "event_f1",
    "etapr_f1",
    "range_f1",
    "nab_score",
    "f1_pa",
    "affiliation_f1",
]

COLUMNS = ["gameability", "search", "one_liners", "beats_median", "random", "random_spread"]

HEAD = """# The audit: real scores, and scorers without skill

Written by `docs/make_audit.py`. The hard suite asks whether a metric orders models whose order is known. On real scores no order is known, but
two things can be asked: does a metric rate scorers that do not use the series as highly as real detectors (**gameability**), and do metrics agree on
which detectors are good (**agreement**)?

The table needs a column `series`, a column `label` (or others, named with `--by` and `--label`), a column per detector and, for the one-liners, the `value` of the series:

```python
>>> import numpy as np
>>> import pandas as pd
>>> import tsadeval as te
>>> rng = np.random.default_rng(0)
>>> parts = []
>>> for series in ("pump", "valve"):
...     label = (np.arange(2_000) // 25 % 20 == 7).astype(int)
...     value = rng.normal(size=2_000) + 3 * label
...     noisy = rng.normal(size=2_000) + label
...     parts.append(pd.DataFrame({"series": series, "value": value, "label": label, "distance": abs(value), "noisy": noisy}))
>>> pd.concat(parts).to_parquet("scores.parquet")
>>> te.rankeval.audit("scores.parquet", ["auc_pr", "vus_pr", "f1_pa"])
Audit on 2 series: 4 scorings of 2 detectors, 17 adversaries; predictions at quantile(0.95)
<BLANKLINE>
metric  gameability  search  one_liners  beats_median  random  random_spread  errors
------  -----------  ------  ----------  ------------  ------  -------------  ------
auc_pr       0.0000  0.0000      0.0000        0.0000  0.0472         0.0086       0
vus_pr       0.0000  0.0000      1.0000        0.0000  0.2225         0.0622       0
f1_pa        0.0000  0.0000      0.0000        0.0000  0.3904         0.3010       0

```

The same on the command line, for all metrics, or with a metric and a scorer without skill of your own, both functions in `mine.py`: `metric(y_true, y_score)` and `scorer(n, random)`.

```bash
tsadeval rankeval run --suite audit --data scores.parquet --metrics all
tsadeval rankeval run --suite audit --data scores.parquet --metrics recommended,mine:metric --adversaries mine:scorer
```

Points without a score are not judged, detector by detector, as in `te.compare`. Metrics of predictions are taken at `quantile(0.95)`. The 2,556 scorings of Theseus below
and 3,638 of adversaries take 30 seconds of CPU time for the recommended metrics and 150 for all (78 s on two cores; the 928 of NAB 16 s).
"""

MEASURES = """**gameability**: the share of series on which the best scorer without skill reaches 90 % of the best real detector. Series on which both
get 0 are left out, as there is nothing to reach, except by metrics of which less is better, where 0 is perfect. **search**: the same where the best of many attempts counts. **one-liners**: the same for a line of code on the series. **beats median**: the share of series on
which the best scorer without skill is above the median detector. **random**: the mean value of uniform random scores, and its **spread**
over series, from the 5 % to the 95 % quantile: where it is wide, the level of chance depends on the labels.
"""

LESSONS = """## What to take from it

- **High values of point adjustment and affiliation need no skill**: on a third of the series of
  Theseus random scores or the position in time come within 10 % of the best of twelve detectors. The pictures show the series on which that is plainest.
- **F1-PA orders the detectors nearly the other way round** than VUS-PR, PATE, AUC-PR and EARS do, which agree with each other almost perfectly.
  A leaderboard by F1-PA is a leaderboard of something else.
- **EARS is central** on the twelve detectors of Theseus: its order is close to that of most others, and opposite to F1-PA's only.
- **The best of many attempts is dangerous for every metric**: whoever may try twenty scorers and report the best one reaches real detectors
  on a fifth to a half of the series. Choose on other series than those you report.
- **One line of code** reaches the best detector on one series in six or so under most metrics: on those series the benchmark says little about
  detectors.
- **NAB is different.** Its windows are wide and its detectors raise one short alarm in each, so metrics over all points and thresholds
  (AUC-ROC, best F1, EARS, CCE) rate the published detectors little above chance, and scorers without skill reach them on half of the series. NAB's own
  score and event F1 do not have that problem. Where labels are windows around a single alarm, use a metric of alarms and events.
- **The level of chance of AUC-PR, VUS-PR, best F1 and F1-PA depends on the labels** by a third of the range and more. CCE and EARS are
  within a few hundredths of 0 everywhere, AUC-ROC within a few hundredths of 1/2.

Gameability was named by Lyu (arXiv 2607.11969); the scorers and the measures here are our own.
"""


def adversaries():
    lines = ["| adversary | kind | scores |", "|---|---|---|"]
    return "\n".join(lines + [f"| {a.name} | {a.kind} | {a.summary} |" for a in ADVERSARIES.values()])


def measures(data, result):
    """What is kept of an audit, for this page and others."""
    for row in result.table().rows:
        found = {c: None if math.isnan(row[c]) else round(row[c], 2) for c in COLUMNS}
        yield {"data": data, "metric": row["metric"], **found}


def gameability(data, metrics=None):
    """The measures of some metrics, or of all."""
    rows = [row for row in measured.read("audit") if row["data"] == data]
    cells = [
        [f"`{row['metric']}`", *("undefined" if row[c] is None else f"{row[c]:.2f}" for c in COLUMNS)]
        for row in rows
        if metrics is None or row["metric"] in metrics
    ]
    return measured.table(["metric", *(c.replace("_", " ") for c in COLUMNS)], "l" + "r" * len(COLUMNS), cells)


def agreement(table):
    lines = ["| | " + " | ".join(f"`{name}`" for name in table.metrics) + " |", "|---|" + "--:|" * len(table.metrics)]
    for one in table.metrics:
        cells = [f"{table.between(one, other):.2f}" for other in table.metrics]
        lines.append(f"| `{one}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def flips(table):
    worst = sorted(table.rows, key=lambda row: -row["flips"])[:5]
    texts = [f"`{row['metric']}` and `{row['other']}` {row['flips']:.2f}" for row in worst]
    return "Pairs of detectors that two metrics put in opposite order on a series, at most: " + "; ".join(texts) + "."


def winners(result):
    lines = ["| metric | best by mean rank | second | wins most series |", "|---|---|---|---|"]
    rows = result.ranks().rows
    for name in SHOWN:
        mine = sorted((row for row in rows if row["metric"] == name), key=lambda row: row["value"])
        most = max(mine, key=lambda row: row["wins"])
        first, second = (f"{row['detector']} ({row['value']:.1f})" for row in mine[:2])
        lines.append(f"| `{name}` | {first} | {second} | {most['detector']} ({100 * most['wins']:.0f} %) |")
    return "\n".join(lines)


def drawn(figures, path):
    """Functions that draw on axes, under each other."""
    figure = new_figure(7.0, 2.1 * len(figures))
    for ax, draw in zip(figure.subplots(len(figures), 1, squeeze=False)[:, 0], figures, strict=True):
        draw(ax)
    figure.savefig(path)


def examples(name, result, series, metrics, pairs):
    """The series that show gameability and disagreement most."""
    drawn(
        [lambda ax, metric=metric: plot.fooled(result, metric, series, ax) for metric in metrics],
        FIGURES / f"audit-fooled-{name}.png",
    )
    drawn(
        [lambda ax, pair=pair: plot.disagreement(result, *pair, series, ax) for pair in pairs],
        FIGURES / f"audit-disagreement-{name}.png",
    )
    return "\n\n".join(
        [
            "### The series that show it most\n\nThe best detector, and the scorer without skill that comes closest to it.",
            f"![Series on which scorers without skill reach the best detector](figures/audit-fooled-{name}.png)",
            "The series on which two metrics put most pairs of detectors in opposite order, and two of these detectors: "
            "the first metric prefers the upper one, the second the lower one.",
            f"![Series on which metrics disagree most](figures/audit-disagreement-{name}.png)",
        ]
    )


def section(title, data, result):
    name = data.lower()
    table = result.agreement(SHOWN)
    series, scorings = len(result.plan.series), sum(len(s.detectors) for s in result.plan.series)
    plot.gameability(result).figure.savefig(FIGURES / f"audit-gameability-{name}.png")
    plot.agreement(table).figure.savefig(FIGURES / f"audit-agreement-{name}.png")
    return "\n\n".join(
        [
            f"## {title}",
            f"{series} series with both classes, {scorings:,} scorings of {len(result.plan.detectors)} detectors.",
            "### Gameability\n\n" + gameability(data, SHOWN),
            f"![Gameability of every metric](figures/audit-gameability-{name}.png)",
            "### Agreement\n\nSpearman's correlation of the detectors' mean ranks.\n\n" + agreement(table),
            flips(table),
            f"![Agreement of metrics](figures/audit-agreement-{name}.png)",
            "### Winners\n\n" + winners(result),
        ]
    )


def main(data, stores):
    data, stores = Path(data), Path(stores)
    theseus = te.rankeval.audit(data / "Theseus", METRICS, store=stores / "audit-theseus", n_jobs=-1)
    nab_file = data / "NAB_results" / "scores.parquet"
    detectors = [d for d in te.Scores(nab_file, score="*", by="series", values="value").detectors if d not in NOT_REAL]
    nab = te.rankeval.audit(nab_file, METRICS, score=detectors, store=stores / "audit-nab", n_jobs=-1)
    measured.write("audit", [*measures("Theseus", theseus), *measures("NAB", nab)])
    fooled, apart = ["f1_pa", "affiliation_f1", "auc_roc", "ears"], [("f1_pa", "vus_pr"), ("affiliation_f1", "ears")]
    parts = [
        HEAD,
        "## Adversaries\n\n" + adversaries(),
        MEASURES,
        section("Theseus: twelve detectors on eleven data sets", "Theseus", theseus),
        examples("theseus", theseus, data / "Theseus", fooled, apart),
        section("NAB: fourteen published detectors", "NAB", nab),
        examples(
            "nab", nab, nab_file, ["auc_roc", "ears", "nab_score"], [("nab_score", "auc_roc"), ("event_f1", "ears")]
        ),
        LESSONS,
        "## Gameability of all metrics\n\nThe pages of the metrics take their numbers from here. Recall, delays, costs and counts of alarms see one side only and are meant to be read beside another metric: a high\ngameability of one of them alone is no defect.",
        "### All metrics on Theseus\n\n" + gameability("Theseus"),
        "### All metrics on NAB\n\n" + gameability("NAB"),
    ]
    (HERE / "audit.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
