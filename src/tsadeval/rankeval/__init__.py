"""RankEval, the benchmark of metrics: how well does a metric rank models whose true order is known?

>>> import tsadeval as te
>>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
>>> result.table()["cce"]
1.0
"""

from tsadeval.rankeval.api import read, run
from tsadeval.rankeval.auditing import Adversary, AuditResult, audit
from tsadeval.rankeval.hard import HARD_TASKS, HardTask
from tsadeval.rankeval.hard.result import HardResult
from tsadeval.rankeval.properties import check_properties
from tsadeval.rankeval.result import QualityTable, RankEvalResult
from tsadeval.rankeval.suites import SUITES, Suite
from tsadeval.rankeval.tasks import Task

__all__ = [
    "HARD_TASKS",
    "SUITES",
    "Adversary",
    "AuditResult",
    "HardResult",
    "HardTask",
    "QualityTable",
    "RankEvalResult",
    "Suite",
    "Task",
    "audit",
    "check_properties",
    "read",
    "run",
]
