"""Write docs/hard.md from a run of the suite `hard`.

tsadeval rankeval run --suite hard --metrics "all,cce(normalize=robust),cce(normalize=rank)" --store runs/hard
python docs/make_hard.py runs/hard
"""

import importlib.util
import sys
from pathlib import Path

import measured

from tsadeval import plot
from tsadeval.rankeval import HARD_TASKS, read
from tsadeval.rankeval.suites.hard import PARTS

HERE = Path(__file__).parent
FIGURES = HERE / "figures"

# The metrics that are looked at task by task.
CHOSEN = [
    "ears",
    "nab_score at best",
    "pate",
    "cce(normalize='robust')",
    "affiliation_f1 at best",
    "vus_pr",
    "vus_roc",
    "auc_roc",
    "auc_pr",
    "f1_pa at best",
    "f1 at best",
    "cce",
]

SEVEN = ["ears", "pate", "vus_pr", "auc_roc", "f1_pa at best", "cce", "cce(normalize='robust')"]

HEAD = """# The hard suite: tasks on which metrics are fooled

Written by `docs/make_hard.py` from a run of the suite. The published tasks of RankEval no longer separate metrics: CCE, AUC-ROC,
VUS-ROC and a plain difference of means all order their models nearly perfectly. Here are twenty tasks that do separate them.

Your own, a function `metric` in `mine.py`, beside two others on three of the tasks, and why it loses:

```bash
tsadeval rankeval run --suite hard --metrics ears,f1,mine:metric --tasks transform,delay,glitch --repeats 3
tsadeval rankeval explain runs/hard mine:metric -o pictures
```

Without `--tasks` and `--repeats` it is the whole suite; with `--metrics recommended,mine:metric` that takes under a minute, with `--metrics all` it is this page. In Python it is
`te.rankeval.run("hard", ["recommended", metric], progress=True)`; without `progress` it is silent.

The table says the place of each metric in the run; below are those of all metrics of the library. **EARS, which leads, is our own, and so is this
suite**: [read this](#who-judges-here) beside its number.

In an **order task** six models are worse and better by construction, and a metric is scored by the mean of Spearman's and
Kendall's correlation between its order and the true one (equal values share ranks, undefined ones rank last): 1 is perfect, 0 is no
order. Some orders are **preferences** that not everybody shares; they count in the index and are reported apart. In a **control** all
cases should get the same value: 1 - mean |difference| / skill of the reference detector. The **index** is the plain mean over tasks,
with a 95 % bootstrap interval over tasks and repeats. Labels and scores are drawn anew in each of 12 repeats, from streams that depend on
the task, the repeat and the model only. Metrics of predictions are tried at their best threshold and at `quantile(0.95)`. All metrics of the
library take 80 seconds of CPU time (44 s on two cores), the recommended ones 13.

Series have 10,000 points and a tenth of them is anomalous unless the task says otherwise. The background is AR(1) noise of unit
variance, an alarm adds 4 to a point, and each model has 45 false alarms of one point at random places unless the task says otherwise.

A metric that raises an error, or has no value at all on some task, is not placed: its place stands in parentheses, where it would be, and moves no other down. A task without
any value is "-" in the table and counts 0 in the index, a score in parentheses is one where some series failed, and the notes below name the tasks and the first error. A metric without any value has no place.
"""

LESSONS = """## What to take from it

- **EARS** is alone in holding up on all three parts, of a suite that we made. Its weakest tasks are `jitter`, `fragments`,
  `resolution` and `fa_near`; [ears.md](ears.md) says why.
- **No point-wise metric sees when an event is found** (`delay`), how many episodes false alarms make (`fa_episodes`) or how near to an
  event they are (`fa_near`). AUC-ROC, AUC-PR, F1 and CCE are near 0 there: they order such models at random.
- **CCE with min-max scaling fails where scales differ** (`transform`, `dominance`) and where there is one extreme outlier (`glitch`): the paper's
  normalisation, not its idea. With `normalize="robust"` it is among the best of the metrics that do not use the order in time.
- **The level of chance depends on the labels** for PATE, VUS-PR, NAB and point-adjusted F1 (`chance` is 0): a value says little
  without what random scores get on the same labels. `te.evaluate(..., baseline=True)` prints that.
- **Affiliation orders most things well but ignores when an event is found** (`delay`, `fragments`), because it measures distance in time,
  whichever way.
- `lead_time` is below 0 because it counts alarms shortly before an event, which are false alarms in these tasks: it is no metric to order detectors by.
- **Thresholds matter more than metrics** for some: compare a metric at its best threshold and at `quantile(0.95)`.
- Intervals over tasks are wide: the twenty tasks are a sample of what could go wrong, and differences of .05 between metrics
  in the middle of the table say nothing.

## A task or a metric of your own

A metric is a function `(y_true, y_score) -> float` or `(y_true, y_pred) -> float` in a file, named `file:function`. A task is a function of a
random generator that returns labels and the scores of models, worst first:

```python
>>> import numpy as np
>>> import tsadeval as te
>>> def louder(random):
...     "A signal that grows."
...     labels = np.arange(400) // 20 % 5 == 2
...     return labels, [level * labels + random.normal(size=400) for level in (1, 2, 3)]
>>> found = te.rankeval.run("hard", ["auc_roc", "ears"], tasks=[louder], repeats=2)
>>> round(found.table()["auc_roc"], 2)
1.0

```

`tsadeval rankeval run --suite hard --tasks all,mine:louder` adds it to the suite; `te.rankeval.run("hard", tasks=[louder])` runs it alone.

## Why does a metric lose?

`result.explain(metric)`, for a function or a name, has the five tasks on which a metric is worst (`tasks=`), and of each the worst pair (`pairs=`): what
the two detectors do, which is better by construction, what the metric and EARS (`beside=`) gave them, whether the pair is reversed or tied, and what
that means. It begins with the place of the metric and how many pairs of models it reverses and ties in all, and says so where a metric ranks
in reverse.

Pairs are sorted by **severity**. Of a reversed pair it is

    (value of the worse model - value of the better one) / range of the metric's values on the task x places between the two in the true order,

so the most is 5, the first and the last of six models at the ends of the range, and a tie has 0. In a control two values that should be equal are
given in units of **skill**, the difference between the values of the reference detector and of random scores (of `chance`: between perfect scores
and the mean of those without skill): 0 is equal, and at 1 the change is as large as all that sets the detector apart.

`-o pictures`, or `te.plot.worst_pair(explanation, row)`, draws the pairs; of a metric of predictions with the alarms at the rule of the run. Here is
a task on which AUC-ROC is at a loss: the same share of the event is found, late or early.
"""


def tasks():
    lines = ["| task | part | what it models |", "|---|---|---|"]
    return "\n".join(lines + [f"| `{t.name}` | {t.part} | {t.summary} |" for t in HARD_TASKS.values()])


def keep(table):
    """What the pages of the metrics show too."""
    columns = ["index", "index_low", "index_high", *list(PARTS)[1:]]
    rows = [
        {"name": row["name"], **{c: round(row[c], 3 if c == "index" else 2) for c in columns}} for row in table.rows
    ]
    measured.write("hard", rows)


def index():
    cells = []
    for row in measured.read("hard"):
        first = f"{row['index']:.3f} [{row['index_low']:.2f}, {row['index_high']:.2f}]"
        cells.append([f"`{row['name']}`", first, *(f"{row[p]:.2f}" for p in list(PARTS)[1:])])
    return measured.table(["metric", *PARTS], "l" + "r" * len(PARTS), cells)


def each_task(table):
    rows = {row["name"]: row for row in table.rows}
    lines = ["| task | " + " | ".join(f"`{name}`" for name in CHOSEN) + " |", "|---|" + "--:|" * len(CHOSEN)]
    for task in table.tasks:
        lines.append(f"| {task} | " + " | ".join(f"{rows[name][task]:.2f}" for name in CHOSEN) + " |")
    return "\n".join(lines)


JUDGES = """## Who judges here

EARS and this suite were designed by the same people. The tasks say what we want of a metric, and EARS was made to do what we want: a lead of
{first:.2f} to {second:.2f} shows that it does, not that an independent judge found it best. What was done against it:

- Options of EARS were chosen on half of the tasks and tried once on the other half; the defaults stayed ([ears.md](ears.md#could-it-be-better)).
- Orders are built into the series, not judged by anybody; the six that are a matter of taste are reported apart. Without these and by controls alone EARS has
  places {order} and {control} of {count}.
- The [audit](audit.md) on real scores has none of our orders. There EARS is not first: scorers without skill reach 90 % of the best detector on 8 % of the
  series of Theseus (CCE, robust: 4 %; VUS-PR: 6 %) and on 52 % of those of NAB (NAB's own score: {nab}).
- Tasks of your own count as much as ours: `--tasks all,mine:task`. Metrics of others that we overlooked are welcome.

EARS is first on {wins} of the {tasks} tasks. It leads because it has no bad one; on each of the others some metric does better:

{table}
"""


def judges(table):
    """What to hold against the lead of EARS, with its place on every task; values are compared as they are printed."""
    rows = {row["name"]: row for row in table.rows}
    ears, count = rows["ears"], len(rows)

    def place(column):
        return 1 + sum(round(row[column], 2) > round(ears[column], 2) for row in rows.values())

    lines = ["| task | EARS | its place | the highest score |", "|---|--:|--:|---|"]
    for task in sorted(table.tasks, key=lambda task: -place(task)):
        best = max(rows.values(), key=lambda row: row[task])
        lines.append(f"| {task} | {ears[task]:.2f} | {place(task)} of {count} | `{best['name']}`, {best[task]:.2f} |")
    return JUDGES.format(
        first=table.rows[0]["index"],
        second=table.rows[1]["index"],
        order=place("order"),
        control=place("control"),
        count=count,
        nab=nab_gameability(),
        wins=sum(place(task) == 1 for task in table.tasks),
        tasks=len(table.tasks),
        table="\n".join(lines),
    )


def nab_gameability():
    """Of NAB's score on NAB, by the audit."""
    (row,) = (row for row in measured.read("audit") if (row["data"], row["metric"]) == ("NAB", "nab_score"))
    return f"{100 * row['gameability']:.0f} %"


def against_design(result):
    """The table of benchmarks/hard.py, from the run at hand."""
    spec = importlib.util.spec_from_file_location("hard", HERE.parent / "benchmarks" / "hard.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.table(module.compare(result))


DESIGN = """## Against the design

The suite was designed with another program, whose values are those of the second column; `python benchmarks/hard.py` makes this table.
All means over tasks agree within .05. One cell, the order of six differently scaled models in 12 draws, leaves much to chance: in 240 repeats CCE gets
.23 on `transform` and .55 on `heavy_tail`.
"""


def main(store):
    result = read(store)
    table = result.table()
    keep(table)
    plot.hard_tasks(table, metrics=SEVEN).figure.savefig(FIGURES / "hard-tasks.png")
    plot.hard_sensitivity(result, metrics=SEVEN).figure.savefig(FIGURES / "hard-sensitivity.png")
    found = result.explain("auc_roc", tasks=None)
    row = next(row for row in found.rows if row["task"] == "delay")
    plot.worst_pair(found, row).figure.savefig(FIGURES / "hard-delay.png")
    parts = [
        HEAD,
        "## The tasks\n\n" + tasks(),
        f"## All metrics\n\n{result.plan.repeats} repeats, seed {result.plan.seed}.\n\n" + index(),
        judges(table),
        "## Task by task\n\n" + each_task(table),
        "![Scores of seven metrics on every task](figures/hard-tasks.png)",
        "## Sensitivity to each nuisance\n\nHow far a nuisance of the controls moves the value, in units of the skill of the "
        "reference detector (`result.sensitivity()`).",
        "![Change of the value of seven metrics by each nuisance](figures/hard-sensitivity.png)",
        DESIGN.strip() + "\n\n" + against_design(result),
        LESSONS,
        "![The same share of the events found late and early](figures/hard-delay.png)",
    ]
    (HERE / "hard.md").write_text("\n\n".join(part.strip() for part in parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
