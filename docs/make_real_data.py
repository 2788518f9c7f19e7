"""Write docs/real-data.md and its two pictures from a run of detectors on real data.

    python benchmarks/training.py --data DATA --store runs/real                         # deep ones, on a GPU
    tsadeval detect ... --detectors ... --metrics paper --store runs/real --data DATA   # all others, and judge
    python docs/make_real_data.py runs/real DATA

The page says which data sets and detectors the store holds and prints the command with all of them.
"""

import math
import re
import sys
import warnings
from pathlib import Path

import tsadeval as te
from tsadeval import plot
from tsadeval.comparison import Comparison, dataset_of
from tsadeval.core.metric import parse_metric
from tsadeval.errors import UndefinedMetricWarning
from tsadeval.experiments.detect import read

HERE = Path(__file__).parent
FIGURES = HERE / "figures" / "real"
METRICS = ["cce", "auc_roc", "f1", "etapr_f1", "affiliation_f1", "vus_roc"]

# The order of the rows; others come before the last, which knows nothing.
ORDER = ["LOF", "IForest", "PCA", "LSTMAD", "USAD", "Donut", "A.T.", "TimesNet"]
# The data sets of the paper's average.
AVERAGED = {"msl", "swat", "psm", "smd", "creditcard"}
# What the paper's two pictures show, with points on both sides of the anomaly that show the rhythm of the series.
PICTURES = {
    "ecg": ("ucr/125", "ECG (UCR 125)", 500),
    "power": ("ucr/154", "Power demand (UCR 154)", 700),
}


def markdown(head, rows):
    right = [all(row[c].lstrip("-*")[:1].isdigit() or row[c] == "-" for row in rows) for c in range(len(head))]
    lines = [head, ["---:" if to_right else "---" for to_right in right], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def labels(metrics=METRICS):
    return [parse_metric(metric).label for metric in metrics]


def columns(table, mark="%s"):
    """The rows of a table as texts, of our metrics only; `mark` is the form of a best value."""
    best = {metric: table.best(metric) for metric in METRICS}
    rows = []
    for detector in table:
        row = [table._titles.get(detector, detector)]
        for metric in METRICS:
            value = table[detector][metric]
            text = "-" if math.isnan(value) else f"{100 * value if table.percent else value:.2f}"
            row.append(mark % text if detector in best[metric] and len(best[metric]) < len(table) else text)
        rows.append(row)
    return rows


def table(title, values):
    """Detectors by metrics, the best in bold; metrics without any value are left out."""
    rows = columns(values, "**%s**")
    kept = [0, *(c for c in range(1, len(METRICS) + 1) if any(row[c] != "-" for row in rows))]
    return markdown([[title, *labels()][c] for c in kept], [[row[c] for c in kept] for row in rows])


def plain(title, values):
    """Ours, nothing marked."""
    return markdown([title, *labels()], columns(values))


def as_published(title, found):
    """Ours and in brackets the paper's; of networks the median of the seeds, and how many are below the paper's."""
    cells = {(row["row"], row["column"]): row for row in found.rows}
    heads = list(dict.fromkeys(column for _, column in cells))
    rows = []
    for detector in dict.fromkeys(row for row, _ in cells):
        texts = [cells[detector, column] for column in heads]
        words = [f"{row['ours']:.2f} ({row['paper']})" for row in texts]
        below = [re.search(r"(\d+) of (\d+) seeds.* from (.*) to (.*)", row["reason"]) for row in texts]
        rows.append([detector, *words])
        if all(below):
            rows.append([f"{detector}, {below[0][2]} seeds", *(f"{m[3]} to {m[4]}; {m[1]} below" for m in below)])
    return markdown([title, *heads], rows)


def ordered(result):
    """The result with its detectors in the order of the paper."""

    def place(text):
        name = result.titles[text].partition("(")[0]
        return ORDER.index(name) if name in ORDER else len(ORDER) + (name == "Random")

    result.detectors.sort(key=place)
    return result


def average_of(result, names):
    """The macro average over some of the data sets."""
    rows = [row for row in result.rows if row["series"] in names]
    return Comparison(rows, made=result.made, titles=result.titles).average(groups="dataset", percent=True)


def chance(result):
    """On how many series each detector beats Random in AUC-ROC."""
    every = {name: result.table(name) for name in result.plan.datasets}
    rows = []
    for detector, title in result.titles.items():
        if detector != "random":
            both = [(t[detector]["auc_roc"], t["random"]["auc_roc"]) for t in every.values()]
            known = [(ours, chance) for ours, chance in both if not math.isnan(ours)]
            rows.append([title, f"{sum(ours > chance for ours, chance in known)} of {len(known)}"])
    return markdown(["detector", "series on which its AUC-ROC is above that of Random"], rows)


def machines(frame, titles):
    """What ran on what, and how long."""
    rows = []
    pairs = frame.drop_duplicates(["series", "detector", "seed"]).sort_values(
        "detector", key=lambda names: names.map(list(titles).index)
    )
    for (detector, device), part in pairs.groupby(["detector", "device"], sort=False):
        seconds = [f"{part[key].sum():,.1f}" for key in ("fit_seconds", "score_seconds")]
        rows.append([titles[detector], f"`{detector}`", device, str(len(part)), *seconds])
    return markdown(["detector", "as run", "on", "series", "seconds of training", "of scoring"], rows)


def data_sets(frame):
    """Sizes, and the F1 of a detector whose highest scores are all right: with so many alarms there is no higher one."""
    rows = []
    for name, part in frame[frame["metric"] == "f1"].dropna(subset="alarmed_points").groupby("series"):
        n, events, anomalous, alarms = (int(part[key].max()) for key in ("n", "events", "anomalous", "alarmed_points"))
        highest = 200 * min(anomalous, alarms) / (anomalous + alarms)
        rows.append([str(name), f"{n:,}", str(events), f"{100 * anomalous / n:.2f} %", f"{highest:.2f}"])
    return markdown(["data set", "test points", "events", "anomalous", "highest F1 at this threshold"], rows)


def command(plan):
    """A part that runs in seconds, and what the whole has instead."""
    detectors = ",".join(dict.fromkeys(spec.text for spec in plan.detectors))
    part = (
        f"tsadeval detect ucr/155 --detectors lof,pca,random --metrics {','.join(METRICS)} \\\n"
        f"    --threshold '{plan.threshold}' --percent --store runs/real --data ~/data"
    )
    return f"""```bash
{part}
```

That is one of the data sets with three of the detectors. The whole has the data sets `{" ".join(sorted(plan.datasets))}`
and `--detectors '{detectors}'`."""


def draw(result, data):
    """The two pictures, as far as their series are in the store."""
    FIGURES.mkdir(parents=True, exist_ok=True)
    for stem, (name, title, margin) in PICTURES.items():
        if name in result.plan.datasets:
            dataset = te.datasets.load(name, data=data)
            ax = plot.series_with_scores(dataset, result.all_scores(name), around=0, margin=margin, title=title)
            ax.figure.savefig(FIGURES / f"{stem}.png", dpi=200, metadata={})


def page(result, reproductions=()):
    """The page; `reproductions` are those of ECG and Power."""
    frame, titles, names = result.to_frame(), result.titles, sorted(result.plan.datasets)
    parts = [HEAD, *(as_published(*pair) for pair in reproductions), CANNOT]
    parts += [OURS.format(command=command(result.plan), threshold=result.plan.threshold), data_sets(frame)]
    parts += [machines(frame, titles), CHOSEN]
    for stem, (name, title, _) in PICTURES.items():
        if name in names:
            parts += [plain(title, result.table(name, percent=True)), f"![{title}](figures/real/{stem}.png)"]
    of_paper = [name for name in names if dataset_of(name) in AVERAGED]
    if of_paper:
        parts += [MEAN.format(names=", ".join(of_paper)), plain("average", average_of(result, of_paper))]
    parts += ["## Every data set", *(table(name, result.table(name, percent=True)) for name in names)]
    groups = ", ".join(dict.fromkeys(map(dataset_of, names)))
    parts += [WHOLE.format(groups=groups), table("macro average", result.average(groups="dataset", percent=True))]
    with warnings.catch_warnings():  # of metrics without a micro average, which get no column
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        parts += [table("micro average", result.average("micro", percent=True))]
    if "random" in titles:
        parts += [chance(result)]
    failures = result.failures()
    if failures:
        parts += ["## What failed", "\n".join(f"- {line}" for line in failures)]
    return "\n\n".join(parts) + "\n"


HEAD = """# Real data, real detectors

The paper's tables of ECG and Power demand, made again as its authors made them; then our own detectors on ten series. Values are times 100. This page is written by `docs/make_real_data.py`.

## The paper's tables, as the authors ran them

```bash
tsadeval reproduce ecg --data ~/data -o figures
```

The detectors are those of TSB-AD, behind a wrapper with options that the released code has and the text has not: LOF and IForest are fitted on the test part that they score (`te.detect(fit="test")`),
LOF on single points with 30 neighbours (`lof(window=1, neighbors=30, novelty=False, max_windows=None)`), IForest on windows of 100 whose scores belong to their centres
(`iforest(window=100, max_windows=None, max_features=1, centre=True)`); the networks are fitted on the training part. Columns are scaled by mean and deviation of the training part, an event's end in the
name of a file is exclusive, alarms are scores above the 0.95 quantile, CCE is `cce(uncertainty='pointwise')`. On a small series our two detectors equal the classes of TSB-AD to 1e-9 (`tests/golden/make_tsb_ad.py`).

What equals: LOF, IForest and Random (uniform scores of NumPy's `RandomState(42)`) on ECG, and IForest on Power, in CCE, AUC-ROC, F1, eTaPR and Aff-F1 to every printed digit; VUS-ROC up to .10, for the published one reads ends of events one
point too far ([erratum 13](errata.md)). What is explained: LOF on Power. Its 13,931 points have 1,836 different values, so nearly all neighbours are at equal distances, and rounding decides which count ([erratum 45](errata.md)).

Ours, and in brackets the paper's. Of the networks it is the median over seeds, with the range under it and how many seeds are below the printed value: TSB-AD's own classes with the authors' options, trained on an NVIDIA H200 by
`docs/make_networks.py`, seeds 42 to 51 (the authors' is 42; A.T. on Power has four). Of the 36 printed values 23 lie within the range and 13 outside of it: one draw each, on another GPU and with another torch."""

CANNOT = """What cannot be made again:

- the printed row of a network itself, for the reason above;
- Random on Power: the state of the generator after all that ran before it is not known;
- the average over MSL, SWaT, PSM, SMD and Creditcard: the features of SWaT and PSM are given out by their owners, and the paper does not say which machines of SMD it averaged over (its table of data sets has 1-1, 2-1 and 3-1).

The paper's text on these tables is not always what they say: errata 42 and 43."""

OURS = """## Our detectors, by default

Detectors of `tsadeval.detectors` with their default options unless said otherwise, trained on the training part and judged on the test part. Alarms are scores above `{threshold}`. They share their names with the paper's, not
their options, so they are not beside its tables. A run goes on where it stopped:

{command}

Scores are kept, so another metric trains nothing again. Scores that were made elsewhere, on a GPU say, can be put into the store: so these were, by `python benchmarks/training.py --data DATA --store runs/real`, one
after the other on a GPU, and with `--detectors lof iforest pca random --device cpu` on 16 cores. In Python: `te.detect(["ucr/125"], ["lof", "usad"])`, `te.compare({{"LOF": s1, "mine": s2}}, y_true)`.

## What ran on what"""

CHOSEN = """## ECG and Power demand

One thing was chosen with the labels of these two series in view: that Donut, USAD and PCA score whole windows and not points one by one. Donut gains most by it (AUC-ROC of
.76 to .99 became .98 and more), so its numbers on UCR 125 and 154 flatter it; for the other series nothing was chosen. One seed each: another gives other networks. In the pictures a score is drawn between
the lowest and the highest of the whole series; strips and bands have the colour of an event's CCE score."""

MEAN = """## The average over data sets of the paper

The paper averages over MSL, SWaT, PSM, SMD and Creditcard. Here are the features of {names}."""

WHOLE = """## Over all of them

Macro: the mean over data sets ({groups}) of the mean over their series. Micro: all points of all series pooled, for the metrics for which that has a meaning; scores of
different series have different scales, and pooling does not mend that."""


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found = ordered(read(sys.argv[1]))
    data = sys.argv[2] if len(sys.argv) == 3 else None
    draw(found, data)
    pairs = [(title, te.reproduce(stem, data=data)) for stem, (_, title, _) in PICTURES.items()]
    (HERE / "real-data.md").write_text(page(found, pairs), encoding="utf-8")
