"""tsadeval on tensors: metrics of batches of series on their device, losses to train with, torchmetrics classes.

Arguments come in torch's order, `(preds, target)`. Needs `pip install 'tsadeval[torch]'`.
"""

from __future__ import annotations

from tsadeval.torch._affiliation import affiliation, affiliation_f1
from tsadeval.torch._cce import cce
from tsadeval.torch._losses import CCELoss, EventAUCLoss
from tsadeval.torch._pate import pate
from tsadeval.torch._ranking import auc_pr, auc_roc, best_f1, f1_pa
from tsadeval.torch._vus import vus, vus_pr, vus_roc

__all__ = [
    "CCELoss",
    "EventAUCLoss",
    "affiliation",
    "affiliation_f1",
    "auc_pr",
    "auc_roc",
    "best_f1",
    "cce",
    "f1_pa",
    "pate",
    "vus",
    "vus_pr",
    "vus_roc",
]
