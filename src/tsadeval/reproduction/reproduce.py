"""`te.reproduce`: compute the paper's tables, and what it says of its figures, beside the printed numbers."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval.comparison.detector_table import tabular
from tsadeval.core.facts import grouped
from tsadeval.core.inputs import Floats
from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.results import Grid, Result, ResultTable, Row, latex_text
from tsadeval.datasets import Dataset, data_folder, load
from tsadeval.engine.progress import Progress
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.detect import Detection, detect
from tsadeval.plot import five_models, series_with_scores, write_figures
from tsadeval.plot.figures import write_drawings
from tsadeval.rankeval import SuiteResult, run
from tsadeval.rankeval.quality import INDICATORS
from tsadeval.rankeval.series import CASES, REAL
from tsadeval.rankeval.suites.paper import PUBLISHED, PUBLISHED_RULE, five_models_table
from tsadeval.reproduction.printed import judge, of_networks, place, printed

RESULTS = ("rank", "five", "robustness", "values", "tau", "latency", "datasets", "ecg", "power", "average")
STATUS = ("equal", "explained", "different", "not reproducible")
SHOWN = ("row", "column", "paper", "ours", "difference", "status", "reason")

# The metrics as the suite `paper` runs them, by the names that the paper's tables give them.
METRICS = dict(zip([*dict.fromkeys(column for _, column in printed("rank")), "PATE"], PUBLISHED, strict=True))
LABELS = {text: name for name, text in METRICS.items()}
RANKED = [text for name, text in METRICS.items() if name != "PATE"]  # PATE is timed only
ON_REAL = {name: METRICS[name] for name in ("CCE", "AUC-ROC", "F1", "eTaPR", "Aff-F1", "VUS-ROC")}
ON_REAL["CCE"] = "cce(uncertainty='pointwise')"
AS_PUBLISHED: dict[str, Any] = {"ties": "published", "undefined": "published"}
TAUS = (0.1, 0.3, 0.5, 0.7, 0.9)
LEAST = 5e-4  # of a change that three digits show

# Detectors with the authors' options, fitted on the series that they score.
DETECTORS = {
    "LOF": "lof(window=1, neighbors=30, novelty=False, max_windows=None)",
    "IForest": "iforest(window=100, max_windows=None, max_features=1, centre=True)",
}
DRAWN = {**{name: name for name in DETECTORS}, "Random": "Random 42"}
# The paper's two series: data set, title, points shown beside the anomaly, seeds of Random (Power's is not known).
SERIES: dict[str, tuple[str, str, int, Sequence[int]]] = {
    "ecg": ("ucr/125", "ECG (UCR 125)", 500, [42]),
    "power": ("ucr/154", "Power demand (UCR 154)", 700, range(42, 52)),
}

# Ours of each cell, by row and column: a number, a word, or the values of several seeds.
Cells = dict[tuple[str, str], Any]


def uniform(seed: int, X: Floats) -> Floats:
    """Return uniform scores from a seed of NumPy's old generator: the authors' detector Random."""
    return np.asarray(np.random.RandomState(seed).random_sample(len(X)))


class Reproduction(Result):
    """The paper's cells beside ours; `missing` says what could not be computed, and how to get what it needs."""

    def __init__(self, rows: list[Row], missing: Sequence[str]) -> None:
        super().__init__(rows, SHOWN)
        self.missing = list(missing)
        self._of = {name: [row for row in rows if row["result"] == name] for name in RESULTS}

    def counts(self) -> ResultTable:
        """Return how many cells of each result are equal, explained, different or not reproducible."""
        found = {name: Counter(row["status"] for row in rows) for name, rows in self._of.items() if rows}
        return ResultTable([{"result": name} | {status: of[status] for status in STATUS} for name, of in found.items()])

    def _grids(self) -> list[tuple[str, Grid]]:
        tables = [
            (name, [list(SHOWN), *([_shown(row, c) for c in SHOWN] for row in rows)])
            for name, rows in self._of.items()
            if rows
        ]
        return [*tables, ("cells", self.counts()._grid())]

    def _notes(self) -> list[str]:
        return [f"not reproducible: {line}" for line in self.missing]

    def to_latex(self, *, digits: int = 4) -> str:
        """Return each result in the paper's layout: ours, and the paper's in brackets where it is another."""
        tables = []
        for name, cells in self._of.items():
            if cells:
                found = {(row["row"], row["column"]): row for row in cells}
                rows, columns = (list(dict.fromkeys(key[i] for key in found)) for i in (0, 1))
                body = [[latex_text(r), *(_latex(found.get((r, c))) for c in columns)] for r in rows]
                tables.append(tabular([[[name, *map(latex_text, columns)]], body]))
        return "\n\n".join(tables)


def _shown(row: Row, column: str) -> Any:
    """Return a cell for printing, with as many digits as the paper's."""
    value = row[column]
    if not isinstance(value, float):
        return "" if value is None else value
    return f"{value:{'+' if column == 'difference' else ''}.{len(row['paper'].partition('.')[2])}f}"


def _latex(row: Row | None) -> str:
    if row is None or row["status"] == "equal":
        return "" if row is None else latex_text(row["paper"])
    return f"{latex_text(_shown(row, 'ours'))} ({latex_text(row['paper'])})".lstrip()


def reproduce(
    name: str = "all",
    *,
    store: str | Path | None = None,
    data: str | Path | None = None,
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    output: str | Path | None = None,
) -> Reproduction:
    """Compute a table or figure of the paper on CCE, and put the printed numbers beside ours.

    Parameters
    ----------
    name : str, default="all"
        "rank" (the ranking table), "five" (five models), "robustness" and "values" (what the text says of its figures
        of noise and of false alarms), "tau", "latency", "datasets", "ecg", "power" and "average" (detectors on real
        data), or "all".
    store : path
        A folder that keeps every value as it comes. The same call again computes only what is missing there.
    data : path
        The folder of the data sets, else the environment variable TSADEVAL_DATA. Where something is missing, a line
        says how to get it, and the rest goes on.
    n_jobs : int
        Worker processes, as for `te.rankeval.run`.
    progress : bool, function (done, total) or class
        As for `te.rankeval.run`.
    output : path
        A folder for the figures of these results.

    Returns
    -------
    Reproduction
        A row for each printed cell: `result`, `row`, `column`, `paper`, `ours`, `difference`, `status` ("equal",
        "explained", "different" or "not reproducible") and the `reason`, an erratum where one explains it. `counts()`
        has how many; `missing` says what could not be computed.

    Examples
    --------
    >>> import tsadeval as te
    >>> found = te.reproduce("five")
    >>> found.counts().rows
    [{'result': 'five', 'equal': 20, 'explained': 5, 'different': 0, 'not reproducible': 0}]
    >>> found.rows[0]["paper"], round(found.rows[0]["ours"], 4)
    ('0.768', 0.7684)
    """
    check_parameters("reproduce", {"name": OneOf((*RESULTS, "all"))}, {"name": name})
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        work = _Work(folder if store is None else store, data, n_jobs, progress)
        for one in RESULTS if name == "all" else (name,):
            found = work.cells(one)
            rows += [_row(one, *key, paper, found.get(key)) for key, paper in printed(one).items()]
        if output is not None:
            work.draw({row["result"] for row in rows if row["ours"] is not None}, Path(output))
    return Reproduction(rows, work.missing)


def _row(result: str, row: str, column: str, paper: str, ours: Any) -> Row:
    """Return a cell beside ours, with its status and the reason."""
    seeds = ours if isinstance(ours, list) else of_networks(result).get((row, column))
    if seeds:
        ours = float(np.median(seeds))
        status, why = place(float(paper), seeds)
    elif ours is None:
        status, why = "not reproducible", "see below"
    else:
        status, why = judge(result, row, column, paper, ours)
    difference = ours - float(paper) if isinstance(ours, float) else None
    cell = {"result": result, "row": row, "column": column, "paper": paper, "ours": ours, "difference": difference}
    return {**cell, "status": status, "reason": why}


class _Work:
    """The runs behind the results, each made when it is first needed."""

    def __init__(
        self, store: str | Path, data: str | Path | None, n_jobs: int | None, progress: bool | Progress | None
    ) -> None:
        self.store, self.data = Path(store), data_folder(data)
        self.how: dict[str, Any] = {"n_jobs": n_jobs, "progress": progress}
        self.missing: list[str] = []
        self.detections: dict[str, tuple[Dataset, Detection]] = {}

    def cells(self, result: str) -> Cells:
        """Compute ours of a result; where something is missing, say so."""
        try:
            return self._real(result) if result in SERIES else getattr(self, result)()
        except InvalidInputError as error:
            self.missing.append(f"{result}: {error}")
            return {}

    @cached_property
    def rankings(self) -> SuiteResult:
        """The run behind the rank table and the figures of noise and false alarms."""
        absent = [name for name in REAL if not CASES[name].present(self.data)]
        if absent:
            raise InvalidInputError(
                f"the paper's averages are over real label sets too, of which {', '.join(absent)} are missing: give "
                "--data or set TSADEVAL_DATA; `tsadeval datasets info NAME` says where a data set is had"
            )
        return run("paper", RANKED, store=self.store / "rankeval", data=self.data, **self.how)

    def rank(self) -> Cells:
        """Average ranking quality of ten metrics on four tasks."""
        rows = self.rankings.table(**AS_PUBLISHED).rows
        return {(f"{r['task']} {INDICATORS[r['indicator']][0]}", LABELS[r["metric"]]): r["value"] for r in rows}

    def five(self) -> Cells:
        """Five models on one series."""
        found = five_models_table().rows
        names = dict.fromkeys(column for _, column in printed("five"))
        return {(row["model"], name): row[c] for row in found for name, c in zip(names, list(row)[2:-1], strict=True)}

    def robustness(self) -> Cells:
        """Whether a metric ranks worse with the strongest noise than without any, by its Spearman correlation."""
        rows = (row for row in self.rankings.robustness(**AS_PUBLISHED).rows if row["indicator"] == "spearman")
        found = grouped(((row["task"], LABELS[row["metric"]]), row["value"]) for row in rows)
        change = {key: values[-1] - values[0] for key, values in found.items()}
        return {k: "unaffected" if abs(x) < LEAST else "worse" if x < 0 else "better" for k, x in change.items()}

    def values(self) -> Cells:
        """At which end of p a metric puts models of larger q in the wrong order, with and without noise."""
        frame = self.rankings.to_frame()
        frame = frame[frame["generator"] == "PreQ-NegP"].assign(noise=frame["sigma"] > 0)
        means = frame.groupby(["metric", "noise", "sigma", "case", "p", "q"])["value"].mean().unstack()
        wrong = (means.diff(axis=1).iloc[:, 1:] <= 0).mean(axis=1).groupby(["metric", "noise", "p"]).mean().unstack()
        first, last = wrong.iloc[:, 0], wrong.iloc[:, -1]
        ends = np.where(np.maximum(first, last) < LEAST, "none", np.where(first > last, "low p", "high p"))
        keys = (("with noise" if noise else "without noise", LABELS[metric]) for metric, noise in wrong.index)
        return dict(zip(keys, ends.tolist(), strict=True))

    def tau(self) -> Cells:
        """CCE at five tau on AccQ."""
        metrics = [f"{METRICS['CCE'][:-1]}, tau={tau})" for tau in TAUS]
        rows = [row for row in self._on_accq(metrics).table(order="given").rows if row["task"] == "AccQ"]
        names = dict(zip(dict.fromkeys(row["metric"] for row in rows), map(str, TAUS), strict=True))
        return {(names[row["metric"]], INDICATORS[row["indicator"]][0]): row["value"] for row in rows}

    def latency(self) -> Cells:
        """Milliseconds of a call on AccQ, here."""
        rows = self._on_accq([METRICS[name] for name in ("CCE", "VUS-ROC", "PATE")]).latency().rows
        found: Cells = {(LABELS[row["metric"]], "ms"): row["mean"] for row in rows}
        return {**found, ("PATE", "times CCE"): found["PATE", "ms"] / found["CCE", "ms"]}

    def _on_accq(self, metrics: list[str]) -> SuiteResult:
        return run("paper", metrics, tasks=["AccQ"], store=self.rankings.store.folder, data=self.data, **self.how)

    def datasets(self) -> Cells:
        """Lengths and events of the label sets."""
        columns = dict.fromkeys(column for _, column in printed("datasets"))
        absent = {name: case.dataset for name, case in CASES.items() if not case.present(self.data)}
        self.missing += [
            f"datasets: the labels of {name}: `tsadeval datasets info {one}`" for name, one in absent.items()
        ]
        found = {name: case.events(self.data) for name, case in CASES.items() if name not in absent}
        numbers = {name: (one.n, len(one), one.lengths.max(), one.lengths.min()) for name, one in found.items()}
        return {(name, c): float(n) for name, row in numbers.items() for c, n in zip(columns, row, strict=True)}

    def _real(self, name: str) -> Cells:
        """Values of the detectors as the authors ran them, times 100; of Random with one seed or several."""
        path, title, _, seeds = SERIES[name]
        dataset = _scaled(load(path, data=self.data, end="exclusive"), name)
        detectors = {**DETECTORS, **{f"Random {seed}": partial(uniform, seed) for seed in seeds}}
        found = detect(
            [dataset],
            detectors,
            list(ON_REAL.values()),
            store=self.store / "detect",
            threshold=PUBLISHED_RULE,
            fit="test",
            **self.how,
        )
        self.detections[title] = dataset, found
        self.missing += [f"{name}: {line}" for line in found.failures()]
        cells = zip(product(detectors, ON_REAL), found.rows, strict=True)
        known = ((detector, column, row["value"]) for (detector, column), row in cells if row["status"] == "ok")
        ours = grouped(((detector.partition(" ")[0], column), 100 * value) for detector, column, value in known)
        return {key: values if len(values) > 1 else values[0] for key, values in ours.items()}

    def average(self) -> Cells:
        """Never: what it needs is given out on request, and of which machines of SMD it is the average is not said."""
        raise InvalidInputError(
            "needs the features of SWaT and PSM besides those of MSL, SMD and Creditcard (`tsadeval datasets info "
            "NAME` tells where they are had), and the paper does not say which machines of SMD it averaged over"
        )

    def draw(self, results: set[str], folder: Path) -> None:
        """Draw the figures of some results in the paper's layout."""
        drawings: dict[str, Any] = {"five-models": five_models} if "five" in results else {}
        if results & {"rank", "robustness", "values", "tau", "latency"}:
            write_figures(self.rankings, folder, **AS_PUBLISHED)
            drawings = {}  # these are all
        for stem, (_, title, margin, _) in SERIES.items():
            if title in self.detections:
                dataset, found = self.detections[title]
                scores = {text.partition(",")[0]: s for text, s in found.all_scores(dataset.name).items()}
                drawn = {name: scores[text] for name, text in DRAWN.items() if text in scores}
                how: dict[str, Any] = {"around": 0, "margin": margin, "metrics": ON_REAL["CCE"], "title": title}
                drawings[stem] = partial(series_with_scores, dataset, drawn, **how)
        write_drawings(drawings.items(), folder, "png", self.missing.append)


def _scaled(dataset: Dataset, name: str) -> Dataset:
    """Return a data set with its columns scaled by mean and deviation of the training part, as the authors scale them.

    Detectors scale them again; of LOF the order in which that is done decides between neighbours at equal distances.
    """
    if dataset.train is None or dataset.test is None:
        raise InvalidInputError(f"{dataset.name} has labels only here: add its features")
    mean, deviation = dataset.train.mean(axis=0), dataset.train.std(axis=0)
    about = replace(dataset.description, checksum=f"{dataset.description.checksum}, scaled")
    train, test = ((part - mean) / deviation for part in (dataset.train, dataset.test))
    return replace(dataset, name=name, train=train, test=test, description=about)
