"""`te.rankeval.run("hard", ...)`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tsadeval.core.parameters import Number, check_parameters
from tsadeval.core.selection import Metrics
from tsadeval.engine.metrics import choose_metrics
from tsadeval.engine.progress import Progress
from tsadeval.engine.run import Limits, complete
from tsadeval.engine.store import Store
from tsadeval.rankeval.hard.plan import LAYOUT, REPEATS, HardPlan, choose_tasks, compute
from tsadeval.rankeval.hard.result import HardResult

__all__ = ["run_hard"]


def run_hard(
    metrics: Metrics | None = None,
    *,
    store: str | Path | None = None,
    n_jobs: int | None = None,
    repeats: int | None = None,
    random_state: int | None = None,
    tasks: Sequence[Any] | None = None,
    progress: bool | Progress | None = None,
    limits: Limits | None = None,
) -> HardResult:
    """Run metrics on the tasks of the suite `hard`; parameters as of `te.rankeval.run`."""
    repeats = REPEATS if repeats is None else repeats
    seed = 0 if random_state is None else random_state
    checks = {"repeats": Number(1, integer=True), "random_state": Number(0, 2**63 - 1, integer=True)}
    check_parameters("rankeval.run", dict(checks), {"repeats": repeats, "random_state": seed})
    plan = HardPlan.of(
        choose_metrics("recommended" if metrics is None else metrics), choose_tasks(tasks), int(repeats), int(seed)
    )
    kept = Store(store, LAYOUT)
    kept.add_plan(plan.record())
    complete(plan.cells(), plan.chunks, compute, kept, n_jobs=n_jobs, progress=progress, limits=limits)
    return HardResult(plan, kept)
