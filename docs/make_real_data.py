"""Write docs/real-data.md and its two pictures from a run of detectors on real data.

    python benchmarks/training.py --data DATA --store runs/real                         # deep ones, on a GPU
    tsadeval detect ... --detectors ... --metrics paper --store runs/real --data DATA   # all others, and judge
    python docs/make_real_data.py runs/real DATA

The page says which data sets and detectors the store holds and prints the command with all of them.
"""

import math
import sys
from pathlib import Path

import tsadeval as te
from tsadeval import plot
from tsadeval.comparison import Comparison, dataset_of
from tsadeval.core.metric import parse_metric
from tsadeval.experiments.detect import read

HERE = Path(__file__).parent
FIGURES = HERE / "figures" / "real"
METRICS = ["cce", "auc_roc", "f1", "etapr_f1", "affiliation_f1", "vus_roc"]

# The paper's tables of real data (its values are times 100), by the metrics above.
ECG = {
    "LOF": (-0.01, 53.72, 2.32, 0.0, 67.2, 54.04),
    "IForest": (22.3, 80.67, 4.74, 3.47, 69.77, 82.74),
    "LSTMAD": (4.66, 83.53, 5.33, 3.57, 65.0, 88.19),
    "USAD": (2.85, 47.26, 1.48, 1.41, 67.03, 54.23),
    "A.T.": (-0.21, 49.27, 0.0, 0.0, 68.46, 50.26),
    "Random": (2.82, 52.85, 1.04, 0.0, 65.42, 68.49),
}
POWER = {
    "LOF": (2.63, 68.56, 1.83, 0.0, 62.65, 75.45),
    "IForest": (-5.1, 32.21, 0.0, 0.0, 75.18, 50.78),
    "LSTMAD": (0.5, 64.26, 2.34, 2.45, 67.11, 79.5),
    "USAD": (-1.75, 45.31, 0.78, 0.0, 81.8, 70.4),
    "A.T.": (0.05, 51.6, 1.97, 0.0, 71.06, 54.21),
    "Random": (-4.9, 45.08, 0.52, 0.0, 67.03, 65.46),
}
AVERAGE = {
    "LOF": (0.27, 55.25, 8.04, 7.15, 69.69, 68.32),
    "IForest": (2.1, 54.58, 9.98, 8.83, 49.81, 67.22),
    "LSTMAD": (1.46, 79.87, 25.5, 18.53, 61.63, 84.71),
    "USAD": (1.77, 76.84, 23.64, 16.31, 69.51, 81.54),
    "A.T.": (0.25, 50.3, 4.66, 3.49, 62.81, 58.79),
    "Donut": (0.23, 71.07, 19.08, 14.37, 61.26, 79.55),
    "TimesNet": (0.22, 58.52, 12.54, 12.62, 73.68, 71.55),
}
# The order of the rows; others come before the last, which knows nothing.
ORDER = ["LOF", "IForest", "PCA", "LSTMAD", "USAD", "Donut", "A.T.", "TimesNet"]
# The data sets of the paper's average.
AVERAGED = {"msl", "swat", "psm", "smd", "creditcard"}
# What the paper's two pictures show, with points on both sides of the anomaly that show the rhythm of the series.
PICTURES = {
    "ecg": ("ucr/125", "ECG (UCR 125)", ECG, 500),
    "power": ("ucr/154", "Power demand (UCR 154)", POWER, 700),
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


def beside(title, values, published):
    """Ours, and the paper's in brackets where it has the detector."""
    rows = []
    for name, *texts in columns(values):
        theirs = published.get(name.partition("(")[0])
        pairs = zip(texts, theirs or texts, strict=True)
        rows.append([name, *(f"{ours} ({printed:.2f})" if theirs else ours for ours, printed in pairs)])
    return markdown([title, *labels()], rows)


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
    for stem, (name, title, _, margin) in PICTURES.items():
        if name in result.plan.datasets:
            dataset = te.datasets.load(name, data=data)
            ax = plot.series_with_scores(dataset, result.all_scores(name), around=0, margin=margin, title=title)
            ax.figure.savefig(FIGURES / f"{stem}.png", dpi=200, metadata={})


def page(result):
    frame, titles, names = result.to_frame(), result.titles, sorted(result.plan.datasets)
    parts = [HEAD.format(command=command(result.plan), threshold=result.plan.threshold), data_sets(frame)]
    parts += [machines(frame, titles), BESIDE]
    for stem, (name, title, published, _) in PICTURES.items():
        if name in names:
            parts += [
                beside(title, result.table(name, percent=True), published),
                f"![{title}](figures/real/{stem}.png)",
            ]
    of_paper = [name for name in names if dataset_of(name) in AVERAGED]
    if of_paper:
        parts += [MEAN.format(names=", ".join(of_paper)), beside("average", average_of(result, of_paper), AVERAGE)]
    parts += ["## Every data set", *(table(name, result.table(name, percent=True)) for name in names)]
    groups = ", ".join(dict.fromkeys(map(dataset_of, names)))
    parts += [WHOLE.format(groups=groups), table("macro average", result.average(groups="dataset", percent=True))]
    parts += [table("micro average", result.average("micro", percent=True))]
    if "random" in titles:
        parts += [chance(result)]
    failures = result.failures()
    if failures:
        parts += ["## What failed", "\n".join(f"- {line}" for line in failures)]
    return "\n\n".join(parts) + "\n"


HEAD = """# Real data, real detectors

Detectors of `tsadeval.detectors` on real data sets, each with its default options unless said otherwise, trained on the training part and
judged on the test part, beside the paper's tables. Values are times 100. Alarms are scores above `{threshold}`, as in the paper's benchmark;
its text names no threshold for these tables. This page is written by `docs/make_real_data.py` from a store; a run goes on where it stopped:

{command}

Scores are kept, so another metric trains nothing again. Scores that were made elsewhere, on a GPU say, can be put into the store: so these were, by `python benchmarks/training.py --data DATA --store runs/real`, one
after the other on a GPU, and with `--detectors lof iforest pca random --device cpu` on 16 cores. In Python: `te.detect(["ucr/125"], ["lof", "usad"])`, `te.compare({{"LOF": s1, "mine": s2}}, y_true)`.

## What ran on what"""

BESIDE = """## The paper's ECG and Power tables

Ours, and in brackets the paper's. The paper used "public implementations" with "default hyperparameter settings" that it does not name, in one run, and does not say
which of its CCE variants these tables were made with ([errata](errata.md)); detectors of the same name need not be the same detectors. In the pictures a score is drawn between
the lowest and the highest of the whole series; strips and bands have the colour of an event's CCE score.

One thing was chosen with the labels of these two series in view: that Donut, USAD and PCA score whole windows and not points one by one. Donut gains most by it (AUC-ROC of
.76 to .99 became .98 and more), so its numbers on UCR 125 and 154 flatter it; for the other series nothing was chosen. One seed each: another gives other networks."""

MEAN = """## The paper's average

The paper averages over MSL, SWaT, PSM, SMD and Creditcard. Here are the features of {names}, so the brackets (the paper's five) are no like for like."""

WHOLE = """## Over all of them

Macro: the mean over data sets ({groups}) of the mean over their series. Micro: all points of all series pooled, for the metrics for which that has a meaning; scores of
different series have different scales, and pooling does not mend that."""


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    found = ordered(read(sys.argv[1]))
    draw(found, sys.argv[2] if len(sys.argv) == 3 else None)
    (HERE / "real-data.md").write_text(page(found), encoding="utf-8")
