"""Write docs/gallery.md and its figures: every figure of tsadeval with the lines that make it.

    python docs/make_gallery.py

The page is made from `FIGURES` below, and the figures by running the very lines that the page shows.
"""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imread

HERE = Path(__file__).resolve().parent
FOLDER = HERE / "figures" / "gallery"

DATA = '''\
import numpy as np
import tsadeval as te

rng = np.random.default_rng(0)
DETECTORS = {"LOF": 2.2, "isolation forest": 1.8, "PCA": 1.2, "USAD": 1.1, "random": 0.0}


def series(n=3000):
    """A sine with noise, four anomalies, and scores of five detectors."""
    y = np.zeros(n, int)
    for start in rng.choice(n // 200, 4, replace=False) * 200 + 50:
        y[start : start + rng.integers(2, 80)] = 1
    x = np.sin(np.arange(n) / 30) + 0.1 * rng.normal(size=n) + 0.8 * y
    scores = {name: rng.normal(size=n) + skill * rng.uniform(0.5, 1.5) * y for name, skill in DETECTORS.items()}
    return x, y, scores


many = {f"s{i}": series() for i in range(16)}
x, y, scores = many["s0"]
runs = [(name, d, labels, s) for name, (_, labels, found) in many.items() for d, s in found.items()]
comparison = te.compare(runs, metrics=["cce", "auc_roc", "vus_pr", "f1", "f1_pa", "affiliation_f1"])
'''

# Title, what to see, the lines, and the name of the file.
FIGURES = [
    ("Critical-difference diagram", "Mean ranks; a bar joins detectors that are not significantly different.",
     'ax = te.plot.critical_difference(comparison, metric="vus_pr")', "critical-difference"),
    ("Rank distributions", "How often each detector has each rank, the mean rank and its bootstrap interval.",
     'ax = te.plot.rank_distributions(comparison, metric="vus_pr")', "rank-distributions"),
    ("Agreement of metrics", "Do two metrics order the detectors alike?",
     "ax = te.plot.metric_agreement(comparison)", "metric-agreement"),
    ("All values", "Detectors by series; the best of each series has a dot.",
     'ax = te.plot.values_by_series(comparison, metric="auc_roc")', "values-by-series"),
    ("A series with scores", "Strips and bands have the colour of the CCE score of each event.",
     'ax = te.plot.series_with_scores((x, y), scores, metrics=["cce", "vus_pr"])', "series-with-scores"),
    ("A series coloured by VUS-PR", "Blue costs nothing, orange most: what the value would gain if this event, or normal stretch, were scored perfectly.",
     'ax = te.plot.series_with_scores((x, y), scores, color="vus_pr", metrics="vus_pr")', "series-by-metric"),
    ("One event, close by", "The same figure around the first anomaly: the series, the scores there, and their CCE of the whole series.",
     'ax = te.plot.series_with_scores((x, y), scores, around=0)', "series-around"),
    ("Found, false, missed", "Alarms of several detectors, each at the threshold of its best F1.",
     "ax = te.plot.outcome_strips(y, scores)", "outcome-strips"),
    ("Worst events", "The events that cost a detector most of its CCE, with the points they are at.",
     'ax = te.plot.worst_events(y, scores["PCA"], values=x)', "worst-events"),
    ("Value against threshold", "Four metrics of alarms at every threshold; dots are the best values, and no two metrics have them at the same place.",
     'ax = te.plot.value_by_threshold(y, scores["LOF"])', "value-by-threshold"),
    ("A metric over all thresholds", "Of several detectors against the share of points that are alarmed.",
     'ax = te.plot.curve({name: te.curve("f1", y, s) for name, s in scores.items()})', "curve"),
    ("What a budget of false alarms buys", "The threshold that finds most events with at most 5 false alarms.",
     'ax = te.plot.trade_off(te.choose_threshold(y, scores["PCA"], max_false_alarms=5))', "trade-off"),
    ("ROC", "Recall against false-alarm rate, with the area; the broken line is that of random scores.", "ax = te.plot.roc_curve(y, scores)", "roc"),
    ("Precision and recall", "The broken line is the share of anomalous points.",
     "ax = te.plot.pr_curve(y, scores)", "pr"),
    ("Detection error trade-off", "Low false-alarm rates have most of the room.",
     "ax = te.plot.det_curve(y, scores)", "det"),
    ("The surface under which VUS is the volume", "Precision by recall and by the width of the buffer around events.",
     'ax = te.plot.vus_surface(y, scores["LOF"])', "vus-surface"),
    ("Five models of known order", "The figure of the paper, with what five metrics say.",
     "ax = te.plot.five_models()", "five-models"),
]  # fmt: skip

RANKEVAL = """\
import tsadeval as te

result = te.rankeval.run("quick", ["cce", "auc_roc", "f1"], cases=["10k-2seg-50L", "10k-20seg-50H"])
"""
OF_RUNS = [
    ("A pair that a metric judges wrongly", "Two scorings without skill, and their values by F1-PA: where the event is long, one lucky point is enough.", 'found = te.rankeval.run("hard", ["f1_pa"], tasks="chance", repeats=1).explain("f1_pa", pairs=1)\nax = te.plot.worst_pair(found, found.rows[0])', "explain-chance"),
    ("Ranking quality against noise", "How well metrics order models of known quality, by the noise added to the scores, with 95 % intervals.", 'ax = te.plot.quality_by_noise(result, task="PreQ-NegP-P")', "quality"),
    ("Latency", "Time of a call, a row for each metric, on a logarithmic scale.", "ax = te.plot.latency(result)", "latency"),
    ("Latency by task, length or events", "Time of a call by the length of the series; the bar has half of the calls.", 'ax = te.plot.latency_by(result, by="length")', "latency-by"),
    ("Value against false alarms", "F1 of models with the recall q, by their rate of false alarms p: it ought to go down.", 'ax = te.plot.value_by_false_alarms(result, metric="f1")', "false-alarms"),
    ("Sensitivity to an option", "Quality of the order for each value of the confidence threshold of CCE, by task.", 'ax = te.plot.sensitivity(result, metric="cce")', "sensitivity"),
]  # fmt: skip

HEAD = """# Gallery

Every figure is a function `(data or result, ax=None)` that draws on the axes it is given, or on new ones, and returns them.
`ax.figure.savefig("name.pdf")` writes it; in a notebook a cell that ends with the call shows it. All fit on axes of a column of
print (3.4 x 2.5 inches). `docs/make_gallery.py` makes this page and runs the lines shown here.

The data of the figures:
"""


def page() -> str:
    """The text of the page."""
    parts = [HEAD, f"```python\n{DATA}```\n"]
    for title, words, code, name in FIGURES:
        parts.append(_entry(title, words, code, name))
    parts.append(
        "## Figures of RankEval\n\nAll of a run at once: `tsadeval rankeval figures STORE`; here one by one, of\n"
    )
    parts.append(f"```python\n{RANKEVAL}```\n")
    parts += [_entry(title, words, code, name, "###") for title, words, code, name in OF_RUNS]
    return "\n".join(parts)


def _entry(title: str, words: str, code: str, name: str, level: str = "##") -> str:
    return f"{level} {title}\n\n{words}\n\n```python\n{code}\n```\n\n![{title}: {words}](figures/gallery/{name}.png)\n"


def draw(folder: Path | None = None) -> list[str]:
    """Run the lines of every figure; write them where a folder is given. Returns the names."""
    scope: dict[str, object] = {}
    drawn = []
    for setup, figures in ((DATA, FIGURES), (RANKEVAL, OF_RUNS)):
        exec(setup, scope)
        for _, _, code, name in figures:
            exec(code, scope)
            if folder is not None:
                figure = scope["ax"].figure  # type: ignore[attr-defined] - made by the lines above
                write(folder / f"{name}.png", figure, timed="latency" in name)
            drawn.append(name)
    return drawn


def write(path: Path, figure: Any, timed: bool = False) -> None:
    """Write a figure where its pixels have changed; one of timings, which differ on every machine, where none is."""
    if timed and path.exists():
        return
    target = io.BytesIO()
    figure.savefig(target, dpi=min(160, 900 / figure.get_size_inches()[0]), metadata={"Software": None})
    target.seek(0)
    if not path.exists() or not np.array_equal(imread(target), imread(path)):
        path.write_bytes(target.getvalue())


if __name__ == "__main__":
    warnings.simplefilter("error")
    FOLDER.mkdir(parents=True, exist_ok=True)
    draw(FOLDER)
    (HERE / "gallery.md").write_text(page(), encoding="utf-8")
