"""The audit of metrics on real scores: can a metric be fooled, and does it agree with others?"""

from tsadeval.rankeval.auditing.adversaries import ADVERSARIES, Adversary
from tsadeval.rankeval.auditing.api import audit
from tsadeval.rankeval.auditing.result import AgreementTable, AuditResult, AuditTable

__all__ = ["ADVERSARIES", "Adversary", "AgreementTable", "AuditResult", "AuditTable", "audit"]
