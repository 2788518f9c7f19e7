"""RankEval, the benchmark of metrics: how well does a metric rank models whose true order is known?

>>> import tsadeval as te
>>> result = te.rankeval.run("quick", ["cce", "auc_roc"], cases=["10k-20seg-50H"], tasks=["AccQ"])
>>> result.table()["cce"]
1.0
"""

from tsadeval.rankeval.api import run
from tsadeval.rankeval.result import QualityTable, RankEvalResult, read
from tsadeval.rankeval.suites import SUITES, Suite
from tsadeval.rankeval.tasks import Task

__all__ = ["SUITES", "QualityTable", "RankEvalResult", "Suite", "Task", "read", "run"]
