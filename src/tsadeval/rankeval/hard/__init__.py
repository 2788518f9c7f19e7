"""The suite `hard`: tasks whose order is known and on which metrics are known to be fooled."""

from tsadeval.core.registry import Registry
from tsadeval.rankeval.hard import controls, order, preferences
from tsadeval.rankeval.hard.task import Case, HardTask, task_stream

__all__ = ["HARD_TASKS", "Case", "HardTask", "task_stream"]

HARD_TASKS: Registry[HardTask] = Registry("task")
for _task in (*order.TASKS, *preferences.TASKS, *controls.TASKS):
    HARD_TASKS.add(_task.name, _task)
