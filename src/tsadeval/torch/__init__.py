"""tsadeval on tensors: metrics of batches of series on their device, losses to train with, torchmetrics classes.

Arguments come in torch's order, `(preds, target)`. Needs `pip install 'tsadeval[torch]'`. Values equal those of
`tsadeval.metrics`; sums are in float64, so a device needs that type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tsadeval._optional import require
from tsadeval.torch._affiliation import affiliation, affiliation_f1
from tsadeval.torch._cce import cce
from tsadeval.torch._losses import CCELoss, EventAUCLoss
from tsadeval.torch._pate import pate
from tsadeval.torch._ranking import auc_pr, auc_roc, best_f1, f1_pa
from tsadeval.torch._vus import vus, vus_pr, vus_roc

if TYPE_CHECKING:
    from tsadeval.torch._torchmetrics import AUCPR, AUCROC, CCE, F1PA, PATE, VUSPR, VUSROC, AffiliationF1, BestF1

__all__ = [
    "AUCPR",
    "AUCROC",
    "CCE",
    "F1PA",
    "PATE",
    "VUSPR",
    "VUSROC",
    "AffiliationF1",
    "BestF1",
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


def __getattr__(name: str) -> Any:
    """The classes that need torchmetrics, which functions and losses do without."""
    if name not in __all__:
        raise AttributeError(f"tsadeval.torch has no {name!r}")
    require("torchmetrics", extra="torch")
    from tsadeval.torch import _torchmetrics

    return getattr(_torchmetrics, name)
