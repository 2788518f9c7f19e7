"""`te.rankeval.run` and `read`: run a suite of RankEval, and read its results from a store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from tsadeval.core.names import did_you_mean
from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.selection import Metrics
from tsadeval.datasets import data_folder
from tsadeval.engine.compute import choose_metrics
from tsadeval.engine.pool import Limits
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import complete, limits_of
from tsadeval.engine.store import Store
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError
from tsadeval.rankeval.labels import CASES
from tsadeval.rankeval.suites.audit_table import AuditResult, audit, read_audit
from tsadeval.rankeval.suites.hard_table import HardResult, read_hard, run_hard
from tsadeval.rankeval.suites.paper import LAYOUT, SUITES, Cell, Plan, Suite, compute
from tsadeval.rankeval.suites.paper_table import RankEvalResult, read_rankings

AnyResult = RankEvalResult | HardResult | AuditResult


@overload
def run(  # type: ignore[overload-overlap]  # the third takes any other name: no type says "any text but these two"
    suite: Literal["hard"],
    metrics: Metrics | None = None,
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    repeats: int | None = None,
    random_state: int | None = None,
    tasks: Sequence[Any] | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
) -> HardResult: ...
@overload
def run(  # type: ignore[overload-overlap]  # as above
    suite: Literal["audit"],
    metrics: Metrics | None = None,
    *,
    data: str | Path,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
    **options: Any,
) -> AuditResult: ...
@overload
def run(
    suite: str | Suite = "quick",
    metrics: Metrics | None = None,
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    repeats: int | None = None,
    random_state: int | None = None,
    cases: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    data: str | Path | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
) -> RankEvalResult: ...


def run(
    suite: str | Suite = "quick",
    metrics: Metrics | None = None,
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    repeats: int | None = None,
    random_state: int | None = None,
    cases: Sequence[str] | None = None,
    tasks: Sequence[Any] | None = None,
    data: str | Path | None = None,
    progress: bool | Progress | None = None,
    cell_timeout: float | None = None,
    cell_memory: int | str | None = None,
    **options: Any,
) -> AnyResult:
    """Rank models whose true order is known by metrics, and see how well the metrics do.

    Parameters
    ----------
    suite : str, default="quick"
        "quick", "paper", "paper-text" or "standard"; "hard" for tasks on which metrics are known to be fooled; "audit"
        for real scores against adversaries (`te.rankeval.audit`).
    metrics : str, function, or several of these
        "paper" (the eleven of the paper, with the suite's options), names with options ("cce(tau=0.4)"), functions
        `(y_true, y_score) -> float` (higher is better), or "module:function". Those of the suite by default.
    store : path
        A folder that keeps every value as it comes. The same call again computes only what is missing there.
    n_jobs : int
        Worker processes, -1 for all cores. A metric that crashes there is an error, and the run goes on. By default
        everything runs in this process. Other backends of joblib will do:
        `with joblib.parallel_config(backend="dask"): te.rankeval.run(...)` runs on a Dask cluster.
    repeats : int
        How often each model is drawn; by default as often as the suite says.
    random_state : int
        Seed of all streams, 0 by default. Not for the suite "paper", whose streams are the published ones.
    cases, tasks : sequences of str
        Some of the suite's only. Tasks of the suite "hard" may be your own: functions of a random generator that return
        labels and the scores of models, worst first, or "module:function".
    data : path
        The folder of the real data, else the environment variable TSADEVAL_DATA. Real label sets of the suite join
        where their files are present. For "audit" the table, or folder of tables, of real scores.
    progress : bool, function (done, total) or class
        True shows a bar on a terminal and prints lines elsewhere; a class such as `tqdm.auto.tqdm` makes the bar; a
        function is called as values come.
    cell_timeout : float
        Seconds that one call of a metric may take; beyond that it is an error, and the run goes on.
    cell_memory : int or str
        Bytes ("2GB") that it may take, in the same way. Linux only. Both limits need worker processes: without
        `n_jobs`, one is started.
    **options
        Of the suite "audit": `y_true`, `y_score`, `by`, `value`, `threshold` and `adversaries` of `te.rankeval.audit`.

    Returns
    -------
    RankEvalResult
        With `rows`, `table()`, `explain(metric)`, `robustness()`, `latency()`, `sensitivity()` and `to_frame()`. The
        suite "hard" returns a `HardResult`, "audit" an `AuditResult`; both have `table()` and `explain(metric)`.

    Examples
    --------
    >>> import tsadeval as te
    >>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
    >>> result.table()["cce"]
    1.0
    """
    limits = limits_of(cell_timeout, cell_memory)
    common: dict[str, Any] = {"store": store, "n_jobs": n_jobs, "progress": progress, "limits": limits}
    if options and suite != "audit":
        raise InvalidParameterError(f"suite {suite!r} has no option {next(iter(options))!r}")
    if suite == "hard":
        _refuse("hard", cases=cases, data=data)
        return run_hard(metrics, repeats=repeats, random_state=random_state, tasks=tasks, **common)
    if suite == "audit":
        _refuse("audit", repeats=repeats, cases=cases, tasks=tasks)
        if data is None:
            raise InvalidParameterError("suite 'audit' needs data (--data): a table, or a folder of tables, of scores")
        return audit(data, metrics or "recommended", random_state=random_state or 0, **common, **options)
    plan = make_plan(suite, metrics, repeats=repeats, random_state=random_state, cases=cases, tasks=tasks, data=data)
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    compute_plan(plan, kept, n_jobs=n_jobs, data=data, progress=progress, limits=limits)
    return RankEvalResult(plan, kept, n_jobs=n_jobs, data=data)


def _refuse(suite: str, **given: Any) -> None:
    """Options that a suite does not have."""
    for name, value in given.items():
        if value is not None:
            raise InvalidParameterError(f"suite {suite!r} has no {name}: leave {name} (--{name}) out")


def read(folder: str | Path, suite: str | None = None) -> AnyResult:
    """The last run (of a suite) in a store, as far as it got, with all metrics tried on the same series.

    Parameters
    ----------
    folder : path
        The store of `run`.
    suite : str, optional
        The last run of this suite; by default the last run of any.

    Returns
    -------
    RankEvalResult, HardResult or AuditResult
        As `run` returned it.

    Examples
    --------
    >>> import tempfile, tsadeval as te
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = te.rankeval.run("quick", "cce", store=folder, cases=["10k-20seg-50H"], tasks=["AccQ"])
    ...     table = te.rankeval.read(folder).table()
    >>> dict(table)
    {'cce': 1.0}
    """
    recorded = sorted((Path(folder) / "plans").glob("*.json"))
    try:
        last = json.loads(recorded[-1].read_text()).get("suite") if recorded else None
    except (ValueError, AttributeError, OSError, RecursionError) as error:
        raise InvalidInputError(f"{recorded[-1]} is not a plan of `tsadeval rankeval run` ({error})") from None
    if last == "hard" and suite in (None, "hard"):
        return read_hard(folder)
    if last == "audit" and suite in (None, "audit"):
        return read_audit(folder)
    return read_rankings(folder, suite)


def make_plan(
    suite: str | Suite,
    metrics: Metrics | None = None,
    *,
    repeats: int | None = None,
    random_state: int | None = None,
    cases: Sequence[str] | None = None,
    tasks: Sequence[str] | None = None,
    data: str | Path | None = None,
) -> Plan:
    """What a call of `rankeval` will compute."""
    if not isinstance(suite, Suite) and suite not in SUITES:  # the error of SUITES would not name the other two
        raise UnknownNameError(f"unknown suite {suite!r}: {did_you_mean(str(suite), [*SUITES, 'hard', 'audit'])}")
    chosen = suite if isinstance(suite, Suite) else SUITES[suite]
    if chosen.stream == "published" and random_state is not None:
        raise InvalidParameterError(f"suite {chosen.name!r} has the published seeds: leave random_state (--seed) out")
    repeats = chosen.repeats if repeats is None else repeats
    seed = 0 if random_state is None and chosen.stream != "published" else random_state
    checks = {"repeats": Number(1, integer=True), "random_state": Number(0, 2**64 - 1, integer=True, none=True)}
    check_parameters("rankeval.run", dict(checks), {"repeats": repeats, "random_state": random_state})
    if cases is None:
        names = tuple(case.name for case in chosen.present(data_folder(data)))
    else:
        names = _some(cases, chosen.cases, f"case of suite {chosen.name!r}")
        for name in names:
            CASES[name].events(data_folder(data))  # says what is missing before any work begins
    every = tuple(task.name for task in chosen.tasks)
    tried = choose_metrics(chosen.metrics if metrics is None else metrics, chosen.paper)
    return narrowed(Plan(chosen, tried, names, repeats, seed, every), tasks)


def narrowed(plan: Plan, tasks: Sequence[str] | None) -> Plan:
    """The plan with some of its tasks only."""
    return plan if tasks is None else replace(plan, tasks=_some(tasks, plan.tasks, "task of this plan"))


def _some(wanted: Sequence[str], known: Sequence[str], kind: str) -> tuple[str, ...]:
    wanted = [wanted] if isinstance(wanted, str) else list(wanted)
    for name in wanted:
        if name not in known:
            raise UnknownNameError(f"unknown {kind} {name!r}: {did_you_mean(str(name), list(known))}")
    if not wanted:
        raise InvalidParameterError(f"no {kind} is named: name at least one, or leave it out for all")
    return tuple(name for name in known if name in wanted)


def compute_plan(
    plan: Plan,
    store: Store[Cell],
    *,
    n_jobs: int | None = None,
    data: str | Path | None = None,
    progress: bool | Progress | None = None,
    limits: Limits | None = None,
) -> None:
    """Compute what the store does not have yet of a plan."""
    folder = data_folder(data)
    complete(
        plan.cells(),
        lambda missing: plan.chunks(missing, folder),
        compute,
        store,
        n_jobs=n_jobs,
        progress=progress,
        limits=limits,
    )
