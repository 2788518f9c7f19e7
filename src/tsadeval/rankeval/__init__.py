"""RankEval, the benchmark of metrics: how well a metric ranks models whose true order is known.

>>> import tsadeval as te
>>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
>>> result.table()["cce"]
1.0
"""

from tsadeval.rankeval.properties import check_properties
from tsadeval.rankeval.run import audit, read, run
from tsadeval.rankeval.suite import Explanation, SuiteResult, SuiteTable
from tsadeval.rankeval.suites import HARD_TASKS, SUITES
from tsadeval.rankeval.suites.audit import Adversary
from tsadeval.rankeval.suites.hard_task import HardTask
from tsadeval.rankeval.suites.paper import PaperSuite as Suite
from tsadeval.rankeval.suites.paper import Task, five_models_table

__all__ = [
    "HARD_TASKS",
    "SUITES",
    "Adversary",
    "Explanation",
    "HardTask",
    "Suite",
    "SuiteResult",
    "SuiteTable",
    "Task",
    "audit",
    "check_properties",
    "five_models_table",
    "read",
    "run",
]
