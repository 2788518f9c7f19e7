"""`te.detect`: train detectors on data sets, cache their scores, evaluate them; and what it found."""

import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self

from tsadeval.comparison.comparison import Comparison, Made, Run
from tsadeval.comparison.detector_table import Values
from tsadeval.core.facts import OddAlarms, Origin, finite_mean, odd_alarms, rule_facts
from tsadeval.core.inputs import Floats, Scoring
from tsadeval.core.messages import by_reason, named
from tsadeval.core.metric import BINARY, Metric, Rule
from tsadeval.core.names import check_known, did_you_mean
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.results import Row
from tsadeval.core.selection import Metrics
from tsadeval.datasets.dataset import Dataset
from tsadeval.engine.cells import Chunk, Layout, Making, group_cells
from tsadeval.engine.compute import choose_metrics, compute, metric_of_record, record_of_metric, rule_key, rule_of_key
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete, limits_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.evaluation.baseline import SKILL, skill_of
from tsadeval.evaluation.many import Pool
from tsadeval.experiments.specs import UNREADABLE, DetectorSpec, Source, choose_datasets, choose_detectors, keep_scores
from tsadeval.scores.cache import CachedScores, read_scores
from tsadeval.tables.files import Checksums
from tsadeval.thresholds.rules import parse_rule

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 5  # failures that are printed under the tables


class Detection(Comparison):
    """What `detect` found: a row per data set, detector, seed and metric. Prints as its tables.

    Attributes
    ----------
    plan : Plan
        Which data sets, detectors, metrics and rule.
    folder : Path
        The store; its `scores/` holds the scores.
    titles : dict
        The detectors, and how tables call them: by their full texts where they would share a title.
    """

    def __init__(self, plan: "Plan", store: Store[Any], folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self._stored = store.table(plan.cells())
        found = {spec.text: spec.title for spec in plan.detectors}
        shared = Counter(found.values())
        self.titles = {text: title if shared[title] == 1 else text for text, title in found.items()}
        made = Made(plan.metrics, plan.threshold)
        rows: list[Row] = self._stored.to_pylist()
        _name_rules(rows, made.rule, {str(m) for m in plan.metrics if m.kind == "predictions" and m.best_is_trivial})
        super().__init__(rows, titles=self.titles, made=made, odd=_odd(rows))
        # As planned, whether or not a value is there yet.
        self.series = list(plan.datasets)
        self.detectors = list(self.titles)
        self.metrics = list(map(str, plan.metrics))

    def to_frame(self) -> "pd.DataFrame":
        """All rows: what names each value, the value, threshold, seconds, device, status, message and versions."""
        frame: pd.DataFrame = self._stored.to_pandas()
        return frame

    def scores(self, series: str, detector: str, seed: int = 0) -> CachedScores:
        """Return the scores and labels of a detector (by its text or title) on a data set, and where they came from."""
        for spec in self.plan.detectors:
            if detector in (spec.text, self.titles[spec.text]) and spec.seed in (seed, None):
                cached = self._cached(series, spec)
                if cached is None:
                    raise InvalidInputError(f"{spec.text} has no scores on {series} yet: continue the run")
                return cached
        hint = did_you_mean(detector, list(self.titles.values()))
        raise UnknownNameError(f"no detector {detector!r} with seed {seed} in this result: {hint}")

    def scorings(self) -> Iterator[Run]:
        """Yield (data set, detector, y_true, y_score) of all scores that are cached."""
        for series in self.plan.datasets:
            for spec in self.plan.detectors:
                cached = self._cached(series, spec)
                if cached is not None:
                    title = self.titles[spec.text] + (f", seed {spec.seed}" if spec.seed else "")
                    yield series, title, cached.labels, cached.scores

    def all_scores(self, series: str, seed: int = 0) -> dict[str, Floats]:
        """Return the scores of all detectors that have some on a data set, by the titles of the detectors."""
        found = {self.titles[d.text]: self._cached(series, d) for d in self.plan.detectors if d.seed in (seed, None)}
        return {title: cached.scores for title, cached in found.items() if cached is not None}

    def _cached(self, series: str, spec: DetectorSpec) -> CachedScores | None:
        check_known(series, self.plan.datasets, "data set", "this result")
        return read_scores(self.folder, series, self.plan.datasets[series], spec.text, spec.seed)

    @cached_property
    def _micro(self) -> Values:
        """All points of all data sets pooled, for the metrics of the library; of several seeds the mean."""
        metrics = [metric for metric in self.plan.metrics if metric.library]
        found: dict[str, dict[str, list[float]]] = {}
        for spec in self.plan.detectors:
            pool = Pool(metrics, self.plan.threshold)
            cached = [self._cached(name, spec) for name in self.plan.datasets]
            if None in cached:
                continue  # a pool with a data set less than the others would not compare
            for one in filter(None, cached):
                pool.add(Scoring.of(one.labels, one.scores))
            for metric, value in pool.values().items():
                found.setdefault(spec.text, {}).setdefault(metric, []).append(value)
        return {text: {m: finite_mean(values) for m, values in by.items()} for text, by in found.items()}

    def failures(self) -> list[str]:
        """Return a line for each detector that raised on a data set, and for each metric that did, with the message."""
        lines = []
        for row in (row for row in self.rows if row["status"] == "error"):
            who = self.titles[row["detector"]]
            # Without a device there were no scores to evaluate.
            what = f"{who} failed on" if row["device"] is None else f"{row['metric']} failed on {who},"
            lines.append(f"{what} {row['series']}: {' '.join(row['message'].split())}")
        return list(dict.fromkeys(lines))

    def _failed(self, rows: list[Row]) -> list[str]:
        return []  # `failures` says it

    def _notes(self) -> list[str]:
        # The command line prints the failures by themselves.
        lines = self.failures()
        more = [f"and {len(lines) - SHOWN} more such lines: failures() has all"] * (len(lines) > SHOWN)
        return [*super()._notes(), *lines[:SHOWN], *more]

    def undefined(self) -> list[str]:
        """Return a line for each reason why metrics have no value where scores are: which, and on which data sets."""
        undefined = (row for row in self.rows if row["status"] == "undefined")
        causes = [(row["message"] or "it is not a finite number", row["metric"], row["series"]) for row in undefined]
        return [
            f"{', '.join(metrics)} undefined on {named(datasets, 3)}: {message}"
            for message, metrics, datasets in by_reason(dict.fromkeys(causes))
        ]


def _name_rules(rows: list[Row], rule: Rule, trivial: set[str]) -> None:
    """Name the rules that were used, as `te.compare` does; stores of 0.1.0 have the rule that was asked for alone."""
    for row in rows:
        used = row.pop("used")
        if used is not None or row["rule"] is None:
            row["rule"] = used
            continue
        row |= rule_facts(rule)
        if row["origin"] == Origin.BEST and row["alarms"] is not None and row["threshold"] is None:
            row |= {"rule": BINARY, "origin": Origin.SCORES, "uses_labels": False}
        elif row["origin"] == Origin.BEST and row["metric"] in trivial:
            row |= {"rule": "best(f1)", "origin": Origin.BEST_OF_ONE}


def _odd(rows: list[Row]) -> dict[tuple[str, str], OddAlarms | None]:
    """Return what is odd about the alarms, by data set and detector: with any of its seeds."""
    found: dict[tuple[str, str], OddAlarms | None] = {}
    for row in rows:
        key = row["series"], row["detector"]
        found[key] = found.get(key) or (None if row["n"] is None else odd_alarms([row], row["n"]))
    return found


# Data sets are kept between planning and training up to this size.
HELD_BYTES = 1 << 30

_CHECKS: dict[str, Check] = {
    "random_state": Number(0, 2**32 - 1, integer=True),
    "device": OneOf(("auto", "cpu", "cuda")),
    "fit": OneOf(("train", "test")),
}


class DetectionCell(NamedTuple):
    """One value. `checksum` is of the data, so that changed files under an old name are other cells.

    `version` tells apart two states of a metric; `rule` is None for metrics that take scores; `seed` is None for
    detectors that take none.
    """

    series: str
    checksum: str
    detector: str
    seed: int | None
    metric: str
    version: str
    rule: str | None


LAYOUT = Layout.of(
    DetectionCell, "tsadeval detect", fit_seconds="float64", score_seconds="float64", device="string", **SKILL
)


@dataclass(frozen=True)
class Plan:
    """All that decides which values a run computes: `datasets` by checksums of their data, `threshold` by its key."""

    datasets: dict[str, str]
    detectors: tuple[DetectorSpec, ...]
    metrics: tuple[Metric, ...]
    rule: str
    threshold: Rule = field(compare=False)
    sources: dict[str, Source] = field(default_factory=dict, compare=False)

    def cells(self) -> list[DetectionCell]:
        """Return every value there is to compute."""
        rules = {metric: self.rule if metric.kind == "predictions" else None for metric in self.metrics}
        return [
            DetectionCell(name, checksum, d.text, d.seed, str(m), m.version, rule)
            for name, checksum in self.datasets.items()
            for d in self.detectors
            for m, rule in rules.items()
        ]

    def chunks(self, cells: Iterable[DetectionCell], folder: Path, device: str) -> Iterator[Chunk]:
        """Yield the cells in groups that share their scores, in the order of the plan."""
        detectors = {(d.text, d.seed): d for d in self.detectors}
        metrics = {str(m): m for m in self.metrics}
        for (name, text, seed), group in group_cells(cells, lambda c: (c.series, c.detector, c.seed)).items():
            work = Training(self.sources[name], self.datasets[name], detectors[text, seed], device, folder)
            wanted = {cell.metric: metrics[cell.metric] for cell in group}
            yield Chunk(scorings, tuple(group), wanted, {self.rule: self.threshold}, work, timed=True)

    def record(self) -> dict[str, Any]:
        """Return the plan as plain data for the store."""
        return {
            "datasets": self.datasets,
            "detectors": [{"text": d.text, "title": d.title, "seed": d.seed} for d in self.detectors],
            "metrics": [record_of_metric(metric) for metric in self.metrics],
            "rule": self.rule,
        }

    @classmethod
    def of_records(cls, records: Sequence[dict[str, Any]]) -> Self:
        """Return all recorded plans in one; what ran is there by name only.

        Where they differ (data under an old name, an edited metric) the last one counts.
        """
        try:
            datasets = {name: checksum for record in records for name, checksum in record["datasets"].items()}
            detectors = {(d["text"], d["seed"]): DetectorSpec(**d) for record in records for d in record["detectors"]}
            metrics = {m["name"]: metric_of_record(m) for record in records for m in record["metrics"]}
            rule = records[-1]["rule"]
        except (KeyError, TypeError, AttributeError) as error:
            raise InvalidInputError(
                f"the store was written by another version of tsadeval (no {error}); run the detectors again into it"
            ) from None
        return cls(datasets, tuple(detectors.values()), tuple(metrics.values()), rule, rule_of_key(rule))


class Training(NamedTuple):
    """A detector to be trained on a data set; `folder` is the store that keeps the scores."""

    source: Source
    checksum: str
    detector: DetectorSpec
    device: str
    folder: Path

    def scoring(self) -> tuple[Scoring, Row]:
        """Return the scores, cached or new, and what the rows say of them."""
        dataset = self.source.load() if self.source.held is not None else _last_loaded(self.source, self.checksum)
        if dataset.description.checksum != self.checksum:
            raise InvalidInputError(
                f"{self.source.name} has changed since the run began, so its values were not kept: run the command "
                "again"
            )
        cached = keep_scores(dataset, self.detector, self.folder, name=self.source.name, device=self.device)
        facts = {key: cached.provenance[key] for key in ("fit_seconds", "score_seconds", "device")}
        scoring = Scoring.of(cached.labels, cached.scores)
        return scoring, {**facts, **skill_of(scoring)}


@lru_cache(maxsize=1)  # the detectors of a data set come one after the other
def _last_loaded(source: Source, checksum: str) -> Dataset:
    """Load a data set that had this checksum when the run began."""
    return source.load()


def scorings(chunk: Chunk) -> Iterator[Making]:
    """Give the scores of the detector that is the payload of a chunk."""
    yield chunk.cells, chunk.payload.scoring


def detect(
    datasets: Any,
    detectors: Any,
    metrics: Metrics = "recommended",
    *,
    store: str | Path | None = None,
    threshold: str | float | Rule = "best",
    random_state: int | Sequence[int] = 0,
    fit: Literal["train", "test"] = "train",
    data: str | Path | None = None,
    device: str = "auto",
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
) -> Detection:
    """Train detectors on data sets, cache their scores, and evaluate them.

    Parameters
    ----------
    datasets : str, path, data frame, Dataset, several of these, or a mapping
        Names as `te.datasets.load` takes them, with options in brackets ("ucr/125", "ucr/125(end=exclusive)"), several
        items at once ("ucr/*"), files of your own, data frames with a column `label`, or loaded data sets
        (`te.datasets.load(frame, label="anomaly", split=1000)`). The keys of a mapping are what the tables call frames
        and loaded data sets: `{"pump": frame}`.
    detectors : str, detector, several of these, or a mapping
        Names with options ("lof", "usad(window=50)"), "module:Class(option=value)", or objects with `fit(X)` and
        `score(X)`. The keys of a mapping are what the tables call them: `{"mine": Mine(), "LOF": "lof"}`.
    metrics : str, function, or several of these, default="recommended"
        As for `evaluate`: a set ("recommended", "paper", "all"), names, functions, or "module:function".
    store : path
        A folder that keeps scores and values as they come. The same call again computes only what is missing there:
        with a new metric nothing is trained again. Score files made elsewhere can be put there (`keep_scores`).
    threshold : str, number or rule, default="best"
        How scores become predictions for the metrics that take these, as for `evaluate`.
    random_state : int or several, default=0
        Seed of the detectors that take one; tables show the mean over seeds.
    fit : {"train", "test"}, default="train"
        What detectors are fitted on. "test", the part that they score, is for unsupervised ones, as the benchmarks
        TSB-UAD and TSB-AD run them; tables say so.
    data : path
        The folder of the data sets, else the environment variable TSADEVAL_DATA.
    device : {"auto", "cpu", "cuda"}
        Where the deep detectors run.
    n_jobs : int
        Worker processes, -1 for all cores; they need the data and the store on a disk they share. A detector that
        crashes there is an error, and the run goes on. By default everything runs in this process.
    progress : bool, function (done, total) or class
        True shows a bar on a terminal and prints lines elsewhere; a class such as `tqdm.auto.tqdm` makes the bar; a
        function is called as values come.
    cell_timeout : float
        Seconds that the training of a detector, or one call of a metric, may take; beyond that it is an error, and
        the run goes on.
    cell_memory : int or str
        Bytes ("2GB") that it may take, in the same way. Linux only. Both limits need worker processes: without
        `n_jobs`, one is started.

    Returns
    -------
    Detection
        A `Comparison` of the detectors, with `scores(series, detector)`, `failures()` and `undefined()` besides. A
        detector that fails on a data set has no values there and is tried again by the next call.

    Examples
    --------
    >>> import tempfile, numpy as np, tsadeval as te
    >>> label = (np.arange(200) // 10 == 15).astype(int)
    >>> value = np.sin(np.arange(200)) + 4 * label
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/mine.npz", value=value, label=label)
    ...     found = te.detect(f"{folder}/mine.npz(split=0.5)", ["random", "moving_variance"], "auc_roc")
    >>> [(row["detector"], round(row["value"], 3)) for row in found.rows]
    [('random', 0.348), ('moving_variance', 0.91)]
    """
    seeds = _seeds(random_state)
    limits = limits_of(cell_timeout, cell_memory)
    check_parameters("detect", _CHECKS, {"device": device, "fit": fit})
    # To worker processes what is held would travel once for each detector.
    hold = HELD_BYTES if n_jobs is None and not limits else 0
    folder = Path(tempfile.mkdtemp(prefix="tsadeval-")) if store is None else Path(store).absolute()
    checksums = Checksums(None if store is None else folder)
    rule = parse_rule(threshold)
    chosen, specs = choose_metrics(metrics), choose_detectors(detectors, seeds, fit)
    sources, found = _checked(choose_datasets(datasets, data), checksums, hold)
    plan = Plan(found, specs, chosen, rule_key(rule), rule, sources)
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    checksums.save()
    chunks = partial(plan.chunks, folder=folder, device=device)
    complete(plan.cells(), chunks, compute, kept, n_jobs=n_jobs, progress=progress, limits=limits)
    _last_loaded.cache_clear()
    result = Detection(plan, kept, folder)
    if store is None:  # the scores live as long as the result
        weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


def _checked(given: Iterable[Source], checksums: Checksums, hold: int) -> tuple[dict[str, Source], dict[str, str]]:
    """Return the sources, and the checksums of their data. Every data set is read, so that what is missing is said.

    Data sets whose checksum is known are not read. Those that are read are kept for the work to come, up to `hold`
    bytes in all. One that cannot be read is an error of its cells, unless none can.
    """
    sources: dict[str, Source] = {}
    found: dict[str, str] = {}
    errors: list[InvalidInputError] = []
    for source in given:
        checksum = UNREADABLE
        try:
            source, checksum = source.checked(checksums, hold)
        except InvalidInputError as error:
            errors.append(error)
        if found.setdefault(source.name, checksum) != checksum:
            raise InvalidInputError(
                f"two different data sets are named {source.name!r}: rename one, as "
                "dataclasses.replace(data, name='other')"
            )
        hold -= source.held.nbytes if source.held is not None else 0
        sources[source.name] = source
    if errors and set(found.values()) == {UNREADABLE}:
        raise errors[0]
    return sources, found


def read(folder: str | Path) -> Detection:
    """All runs of `detect` in a store put together, as far as they got."""
    store = Store.existing(folder, LAYOUT)
    records = store.plans()
    if not records:
        raise InvalidInputError(f"{folder} holds no run: run `{LAYOUT.command} --store {folder}` first")
    return Detection(Plan.of_records(records), store, Path(folder))


def _seeds(seed: Any) -> tuple[int, ...]:
    """One seed or several, as plain numbers that can be written down."""
    seeds = tuple(seed) if isinstance(seed, Iterable) and not isinstance(seed, (str, bytes)) else (seed,)
    if not seeds:
        raise InvalidParameterError("random_state is empty: give at least one, or leave it out for 0")
    for one in seeds:
        check_parameters("detect", _CHECKS, {"random_state": one})
    return tuple(int(one) for one in seeds)
