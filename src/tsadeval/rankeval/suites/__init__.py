"""The suites of RankEval, one file a suite: paper (with standard and quick), hard, audit, selection."""

from tsadeval.core.names import Registry
from tsadeval.rankeval.suite import Suite
from tsadeval.rankeval.suites.audit import AUDIT
from tsadeval.rankeval.suites.hard import HARD, HARD_TASKS
from tsadeval.rankeval.suites.paper import PAPER_SUITES
from tsadeval.rankeval.suites.selection import SELECTION

__all__ = ["HARD_TASKS", "SUITES"]

SUITES: Registry[Suite] = Registry("suite", records=(*PAPER_SUITES, HARD, AUDIT, SELECTION))
