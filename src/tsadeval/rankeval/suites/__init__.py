"""The suites of RankEval, one file a suite: paper (with standard and quick), hard, audit."""

from tsadeval.core.names import Registry
from tsadeval.rankeval.suites import hard_controls, hard_orders
from tsadeval.rankeval.suites.hard_task import HardTask

__all__ = ["HARD_TASKS"]

HARD_TASKS: Registry[HardTask] = Registry("task")
for _task in (*hard_orders.TASKS, *hard_controls.TASKS):
    HARD_TASKS.add(_task.name, _task)
