"""Write docs/selection.md from runs of the suite `selection` on published scores of real detectors.

The two collections are those of docs/make_audit.py: Theseus (TSB-UAD) and the results of the Numenta benchmark (NAB).

python docs/make_selection.py DATA STORES      # a minute and a half on two cores, from an empty folder STORES
python docs/site/fill.py docs/selection.md     # what the examples print

DATA has Theseus/*.parquet and NAB_results/scores.parquet; STORES is a folder for what was computed. It writes
docs/data/selection.json, docs/selection.md and the table of docs/choosing.md.
"""

import math
import re
import sys
from itertools import combinations
from pathlib import Path

import measured
import numpy as np
from make_audit import NOT_REAL
from scipy.stats import spearmanr

import tsadeval as te
from tsadeval import plot
from tsadeval.comparison.choosing import ratios
from tsadeval.metrics.criteria import CRITERIA, PERCENT

HERE = Path(__file__).parent
METRICS = ["all", "cce(normalize='robust')", "event_f1(variant='discounted')"]
COLUMNS = ("pair", "pair_low", "pair_high", "top", "top_low", "top_high", "without_kin", "n1", "n2", "n5", "n10")
EACH = [f"pair_{name}" for name in CRITERIA]

HEAD = """# Does a metric pick the right detector?

Written by `docs/make_selection.py`. The [hard suite](hard.md) has orders that somebody decreed, the [audit](audit.md) asks whether a metric can be fooled. This page asks what
a metric is for: **if I choose my detector by this metric on the series that I have labelled, how good is it on my other series, by what I finally care about?** Nobody
decrees an order here.

It says two things clearly, and one thing it cannot say:

- It separates metrics that are unusable for choosing from usable ones. It does **not** put the usable ones in order: on other data sets their order is another one. So there are words and intervals, and no places.
- **More labelled series help more than a better metric**: the columns n = 1 to n = 10.
- Whether a choice carries over to another data set, it cannot say: there not even the criterion itself chooses well.

## With your own scores

A table with a row per point: a column `series`, a column `label`, and a column per detector (or anything else that `te.Scores` takes). Ten series are needed, on which all detectors have scores.
A table with one column of scores and a column `detector` is read with `by=["series", "detector"], score="score"` (`--by series,detector --score score`). Where detectors are not named (`score=`, `--score`), every other column of numbers is one: leave out counters and the like.

```python
>>> import numpy as np
>>> import pandas as pd
>>> import tsadeval as te
>>> rng = np.random.default_rng(0)
>>> label = np.arange(1_000) // 25 % 20 == 7
>>> spike = label & (np.arange(1_000) % 25 == 5)  # one point of each event
>>> found = {"lof": 2.0 * label, "pca": 1.5 * label, "spikes": 6.0 * spike}
>>> parts = []
>>> for i in range(12):
...     scores = {name: rng.normal(size=1_000) + up for name, up in found.items()}
...     parts.append(pd.DataFrame({"series": f"pump {i}", "label": label.astype(int), **scores}))
>>> pd.concat(parts).to_parquet("scores.parquet")
>>> scores = te.Scores("scores.parquet", by="series", score=list(found))
>>> result = te.rankeval.run("selection", ["ears", "auc_pr", "f1_pa"], scores, criteria=["points", "rare"])
>>> result

```

`verdict` is for choosing between two detectors (`pair`). A metric can be right about most pairs and still put the wrong detector first, and the other way round: if you take **one detector of all**, go by what stands after `of all:` (`top`); where nothing does, it is the same word. Look at the interval too. If `a random number` is not clearly below the others, label more series.

The same on the command line, with costs of your own or a function `criterion(scoring, alarms)` of yours in `mine.py`, which returns a number, higher for better alarms:

```bash
tsadeval rankeval run --suite selection --data scores.parquet --metrics ears,auc_pr,f1_pa
tsadeval rankeval explain runs/selection f1_pa -o pictures --data scores.parquet   # each wrong choice as a picture
tsadeval rankeval run --suite selection --data scores.parquet --metrics ears --criteria "costs(missed=50)" --criteria mine:criterion
```

In such a function `alarms` is one bool for each point, as is `scoring.truth.mask`, the labels, and `scoring.scores` are the scores. It is called at every threshold that is tried (up to 127 times for each series and detector):

```python
>>> def criterion(scoring, alarms):
...     label = scoring.truth.mask
...     return alarms[label].mean() - 10 * alarms[~label].mean()  # a false point costs as much as ten missed ones, as shares
>>> te.rankeval.run("selection", "auc_pr", scores, criteria=criterion).table()["auc_pr"]  # pair

```

Which choices were wrong, and on which series; `te.plot.misled(result, "f1_pa", scores)` draws the first:

```python
>>> result.explain("f1_pa", pairs=3)

```

And of a comparison, which detector each metric would choose, and whether that matters. Here choices are made and judged on the same series, so `worth` is an upper bound. The last line has what the choice of a metric decides, and what is lost on other series
of the same kind even where the criterion itself chooses on half of them. The criterion is `events` by default; if all choices are worth the same by it, take another:

```python
>>> te.compare(scores, metrics=["ears", "auc_pr", "f1_pa"]).choice("points")

```
"""

PROTOCOL = """## Protocol

1. The series of a data set, in the order of their names, are split: the even places and the odd ones. A detector is chosen on one half by the mean of a metric, and judged on the other by the mean of a criterion; then the halves are exchanged.
   Metrics of predictions are taken at their best threshold on each series; an undefined value is the worst of its series.
2. `pair`: over all pairs of detectors, the difference of the criterion that the metric gets right less the one it gets wrong, as a share of all of it. `top`: the criterion of the chosen detector above the mean of all, as a share of what the best one has above it. 1 is a perfect choice, 0 is none. Both are means over the criteria.
3. Beside the metrics stand **the criterion itself** (what choosing by it on the labelled half gains: more is not there) and **a random number**.
4. A metric that asks nearly the same as a criterion is its **kin**; `without kin` leaves these criteria out.
5. n = 1, 2, 5, 10: `top` if only so many series of the half are labelled (drawn 50 times; all of the half where it has fewer). Thresholds of criteria come from all of it.
6. Intervals are bootstraps over data sets (with few of them somewhat narrow), over series where there is one data set. **No better than chance**: the interval of `pair` without kin reaches 0. **Worse than usable**: it is less than two thirds of what the
   criterion itself gains on the same criteria. **Usable**: neither. **Undefined**: the metric, or every criterion, has no value. `of all` has the same words by `top`. The words go by the estimate: where intervals are wide, look at them.

False-alarm load: each run of L alarmed points in a normal stretch costs the looks of ceil(L / 100), or of floor(L / 100) where it continues an alarm inside an event.

| criterion | what it is |
|---|---|
| `events` | share of events found at the lowest threshold before the load first exceeds one look per 10,000 points |
| `early` | 1 less the mean relative delay there (missed: 1) |
| `costs` | 1 less the cost, in events; a missed event costs as much as ten looks; at most 2 |
| `points` | point-wise F1 |
| `rare` | share of the anomalous points at most 1 % of the normal points alarmed |

`costs`, `points` and criteria of your own have a threshold, which is chosen with the criterion itself on the labelled half: 101 values from 0 to 1 (from the lowest to the highest score of the detector, where these are not within 0 and 1), no alarm, and 25 shares of the points (in percent {shares}): the lowest threshold at which no more points alarm. The first that is as good as the best within 1e-9 is taken, in this order.

An earlier implementation ran on the same data, and ours gives its numbers to four digits: mean criteria (`events` .2874, `early` .1995, `costs` .2383, `points` .2766, `rare` .1275), `pair` of EARS by criterion (.5794, .6751, .6868, .8331, .8259), and `pair` and `top`
of six metrics (`tests/rankeval/test_selection.py`). The shares are those that give these numbers, found by trying (the last one, all points, is there for the count: the lowest value alarms as many). Which ones are tried matters little: 25 others, evenly spaced in logarithm from .03 % to 55 %, change `pair` of the six by up to .006 and `top` by up to .016.
"""

LIMITS = """## What this cannot show

- **Few clusters.** Theseus has eight data sets of ten series or more, all of them of one archive; intervals are wide, and somewhat too narrow.
- **One family of detectors**: twelve of TSB-UAD, most of them on windows. Who leads among usable metrics depends on this pool. EARS leads in `top` here; all that is shown is that EARS is *not worse than the others in choosing*.
- **Scores were scaled by minimum and maximum over whole series** before they were published, which nobody can do in operation.
- **Another data set.** A detector that is chosen on one data set is not the right one on another, by whatever metric. Label series of your own.
- **Usable for choosing is not good to read.** Accuracy and time in alarm, at the best F1 threshold of every detector, choose well enough here; their values say little.
- The criteria are ours. `te.rankeval.run("selection", ..., criteria=...)` takes yours.
"""

REPEATS = """### Does the order of metrics repeat?

The eight data sets are split into two times four, in all 35 ways, and metrics are put in order on either half. The mean rank correlation (Spearman) of the two orders is {1} by `pair` and {2} by `top` for the {0} usable metrics, and {4} and {5} for all {3}:
what is unusable on some data sets is so on the others, and the order of the usable ones repeats only in part (16 data sets, with others beside these, gave .38 and .12). `docs/make_selection.py` computes it."""

NAB = """## NAB: fourteen published detectors

One data set of 52 series, so that intervals are over series. No metric is usable here between two detectors: labels are wide windows around one alarm, and the criterion itself chooses far better than any metric.
By `top`, choosing one of fourteen, several metrics have .71, F1-PA among them, with wide intervals (F1-PA {}, AUC-PR {}, EARS {}): that says little for any of them, also where the word is "usable"."""


def kept(data, result):
    """What is kept of a run, for this page and others."""
    for row in result.table().rows:
        numbers = {c: None if math.isnan(row[c]) else round(row[c], 4) for c in (*COLUMNS, *EACH)}
        yield {
            "data": data,
            "metric": row["metric"],
            **numbers,
            **{c: row[c] for c in ("kin", "verdict", "verdict_top")},
        }


def two(value):
    return "" if value is None else f"{value:.2f}"


def table(data, metrics=None):
    """The table of a collection, of some metrics or of all: the usable ones first, by name."""
    verdicts = ["", "usable", "worse than usable", "no better than chance", "undefined"]
    rows = [row for row in measured.read("selection") if row["data"] == data]
    rows = [row for row in rows if metrics is None or row["metric"] in metrics or not row["verdict"]]
    rows.sort(key=lambda row: (verdicts.index(row["verdict"]), row["metric"]))
    cells = [
        [
            f"`{row['metric']}`" if row["verdict"] else f"*{row['metric']}*",
            *(f"{two(row[c])} [{two(row[f'{c}_low'])} {two(row[f'{c}_high'])}]" for c in ("pair", "top")),
            *(two(row[c]) for c in COLUMNS[6:]),
            row["kin"],
            row["verdict"],
            row["verdict_top"],
        ]
        for row in rows
    ]
    heads = ["metric", "pair", "top", "without kin", "n = 1", "n = 2", "n = 5", "n = 10", "kin", "verdict", "of all"]
    return measured.table(heads, "l" + "r" * 7 + "lll", cells)


def unusable():
    """The table of docs/choosing.md: what is not to be chosen by, and some usable metrics beside."""
    shown = ["f1_pa", "nab_score", "event_f1", "event_f1(variant='discounted')", "ears", "auc_pr", "vus_pr"]
    found = {row["metric"]: row for row in measured.read("selection") if row["data"] == "Theseus"}
    cells = [
        [
            f"`{name}`",
            f"{two(found[name]['pair'])} [{two(found[name]['pair_low'])} {two(found[name]['pair_high'])}]",
            *(two(found[name][column]) for column in ("top", "n1", "n10")),
            found[name]["verdict"],
            found[name]["verdict_top"],
        ]
        for name in shown
    ]
    heads = ["metric", "of two", "of all", "one series", "ten series", "to choose of two", "to choose of all"]
    return measured.table(heads, "lrrrrll", cells)


def each(data):
    """`pair` by every criterion."""
    rows = sorted((row for row in measured.read("selection") if row["data"] == data), key=lambda row: row["metric"])
    cells = [[f"`{r['metric']}`" if r["verdict"] else f"*{r['metric']}*", *(two(r[c]) for c in EACH)] for r in rows]
    return measured.table(["metric", *CRITERIA], "l" + "r" * len(EACH), cells)


def repeats(result):
    """How far metrics have the same order by `pair` and `top` on two halves of the data sets: the mean over all halves."""
    rows, analysis = result.table().rows, result.plan.analysis(result.plan, result)
    sums = np.array([[analysis._totals(p, c)[:, 0] for p in analysis._parts] for c in CRITERIA])
    found = []
    for words in (["usable"], ["usable", "worse than usable", "no better than chance"]):
        names = [row["metric"] for row in rows if row["verdict"] in words]
        places = [analysis._names.index(name) for name in names]
        halves = list(combinations(range(sums.shape[1]), sums.shape[1] // 2))
        orders = [
            np.mean([ratios(each[list(half)].sum(axis=0)) for each in sums], axis=0)[:, places] for half in halves
        ]
        pairs = list(zip(orders, orders[::-1], strict=True))[: len(orders) // 2]  # of a half and the other one
        found.append((len(names), *(np.mean([spearmanr(a[k], b[k]).statistic for a, b in pairs]) for k in (0, 1))))
    return found


def main(data, stores):
    data, stores, figures = Path(data), Path(stores), HERE / "figures"
    theseus = te.rankeval.run("selection", METRICS, data / "Theseus", store=stores / "selection-theseus", n_jobs=-1)
    nab_file = data / "NAB_results" / "scores.parquet"
    detectors = [d for d in te.Scores(nab_file, score="*", by="series", values="value").detectors if d not in NOT_REAL]
    nab = te.rankeval.run("selection", METRICS, nab_file, score=detectors, store=stores / "selection-nab", n_jobs=-1)
    measured.write("selection", [*kept("Theseus", theseus), *kept("NAB", nab)])
    write(theseus, data / "Theseus", figures)


def write(theseus, series, figures):
    nab = {row["metric"]: row for row in measured.read("selection") if row["data"] == "NAB"}
    plot.misled(theseus, "f1_pa", series).figure.savefig(figures / "selection-misled.png")
    parts = [
        HEAD,
        PROTOCOL.format(shares=", ".join(f"{percent:g}" for percent in PERCENT)),
        "## Theseus: twelve detectors on eight data sets\n\n201 series, 2,412 scorings. Usable metrics stand by name: their order says nothing.",
        table("Theseus"),
        REPEATS.format(
            *(two(number) if isinstance(number, float) else number for one in repeats(theseus) for number in one)
        ),
        "### Where F1-PA chose wrongly\n\nThe series that misled it in its most costly choice of two detectors: the one it chose, with its value and its worth on the other series, and the better one.",
        "![A detector that F1-PA chose wrongly](figures/selection-misled.png)",
        "### By criterion\n\n`pair`, one criterion at a time.",
        each("Theseus"),
        NAB.format(
            *(f"{two(nab[name]['top_low'])} to {two(nab[name]['top_high'])}" for name in ("f1_pa", "auc_pr", "ears"))
        ),
        table("NAB"),
        LIMITS,
    ]
    (HERE / "selection.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")
    page = HERE / "choosing.md"
    text = re.sub(
        r"^\| metric \| of two .*\n(\|.*\n)+", f"{unusable()}\n", page.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:3])
