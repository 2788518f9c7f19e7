"""RankEval, the benchmark of metrics: how well a metric ranks models whose true order is known.

>>> import tsadeval as te
>>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
>>> result.table()["cce"]
1.0
"""

from tsadeval.rankeval.properties import check_properties
from tsadeval.rankeval.run import read, run
from tsadeval.rankeval.suites import HARD_TASKS
from tsadeval.rankeval.suites.adversaries import Adversary
from tsadeval.rankeval.suites.audit_table import AuditResult, audit
from tsadeval.rankeval.suites.hard_table import HardResult
from tsadeval.rankeval.suites.hard_task import HardTask
from tsadeval.rankeval.suites.paper import SUITES, Suite, Task
from tsadeval.rankeval.suites.paper_table import QualityTable, RankEvalResult

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
