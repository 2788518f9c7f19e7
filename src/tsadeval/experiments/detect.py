"""`te.detect`: train detectors on data sets, cache their scores, evaluate them."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from tsadeval.core.metric import Rule
from tsadeval.core.parameters import Check, Number, OneOf, check_parameters
from tsadeval.core.selection import Metrics
from tsadeval.engine.compute import choose_metrics
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete, limits_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.experiments.dataset_sources import UNREADABLE, Source, choose_datasets
from tsadeval.experiments.detection import LAYOUT, Detection, Plan, compute
from tsadeval.experiments.detector_specs import choose_detectors
from tsadeval.tables.checksums import Checksums
from tsadeval.thresholds.rules import parse_rule

# Data sets are kept between planning and training up to this size.
HELD_BYTES = 1 << 30

_CHECKS: dict[str, Check] = {
    "random_state": Number(0, 2**32 - 1, integer=True),
    "device": OneOf(("auto", "cpu", "cuda")),
}


def detect(
    datasets: Any,
    detectors: Any,
    metrics: Metrics = "recommended",
    *,
    store: str | Path | None = None,
    threshold: str | float | Rule = "best",
    random_state: int | Sequence[int] = 0,
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
    check_parameters("detect", _CHECKS, {"device": device})
    # Data that are here already need not be read again; to worker processes they would travel once for each detector.
    hold = HELD_BYTES if n_jobs is None and not limits else 0
    folder = Path(tempfile.mkdtemp(prefix="tsadeval-")) if store is None else Path(store).absolute()
    checksums = Checksums(None if store is None else folder)
    plan = make_plan(
        datasets, detectors, metrics, threshold=threshold, seeds=seeds, data=data, hold=hold, checksums=checksums
    )
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    checksums.save()
    complete(
        plan.cells(),
        lambda missing: plan.chunks(missing, folder, device, hold),
        compute,
        kept,
        n_jobs=n_jobs,
        progress=progress,
        limits=limits,
    )
    result = Detection(plan, kept, folder)
    if store is None:  # the scores live as long as the result
        weakref.finalize(result, shutil.rmtree, folder, ignore_errors=True)
    return result


def make_plan(
    datasets: Any,
    detectors: Any,
    metrics: Metrics = "recommended",
    *,
    threshold: str | float | Rule = "best",
    seeds: Iterable[int] = (0,),
    data: str | Path | None = None,
    hold: int = 0,
    checksums: Checksums | None = None,
) -> Plan:
    """What a call of `detect` will compute. Every data set is read, so that what is missing is said at once.

    Data sets whose checksum is known are not read. Those that are read are kept for the work to come, up to `hold`
    bytes in all. One that cannot be read is an error of its cells, unless none can.
    """
    rule = str(parse_rule(threshold))
    chosen = choose_metrics(metrics)
    specs = choose_detectors(detectors, tuple(seeds))
    memory = Checksums(None) if checksums is None else checksums
    found: dict[str, str] = {}
    sources: dict[str, Source] = {}
    errors: list[InvalidInputError] = []
    for given in choose_datasets(datasets, data):
        try:
            source, checksum = given.checked(memory, hold)
        except InvalidInputError as error:
            errors.append(error)
            source, checksum = given, UNREADABLE
        if found.setdefault(source.name, checksum) != checksum:
            raise InvalidInputError(
                f"two different data sets are named {source.name!r}: rename one, as "
                "dataclasses.replace(data, name='other')"
            )
        hold -= source.held.nbytes if source.held is not None else 0
        sources[source.name] = source
    if errors and set(found.values()) == {UNREADABLE}:
        raise errors[0]
    return Plan(found, specs, chosen, rule, sources)


def _seeds(seed: Any) -> tuple[int, ...]:
    """One seed or several, as plain numbers that can be written down."""
    seeds = tuple(seed) if isinstance(seed, Iterable) and not isinstance(seed, (str, bytes)) else (seed,)
    if not seeds:
        raise InvalidParameterError("random_state is empty: give at least one, or leave it out for 0")
    for one in seeds:
        check_parameters("detect", _CHECKS, {"random_state": one})
    return tuple(int(one) for one in seeds)
