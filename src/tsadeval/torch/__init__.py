"""Metrics of batches of series on a GPU or CPU, losses to train with, and torchmetrics classes.

Arguments come in torch's order, `(preds, target)`. Needs `pip install 'tsadeval[torch]'`. Values equal those of
`tsadeval.metrics`; sums are in float64, so a device needs that type.
"""

import importlib
from typing import Any

from tsadeval._optional import require

# Where each name lives: losses and functions need torch, the classes torchmetrics besides.
_HOMES = {
    "AUCPR": "_torchmetrics",
    "AUCROC": "_torchmetrics",
    "AffiliationF1": "_torchmetrics",
    "BestF1": "_torchmetrics",
    "CCE": "_torchmetrics",
    "CCELoss": "_losses",
    "EventAUCLoss": "_losses",
    "F1PA": "_torchmetrics",
    "PATE": "_torchmetrics",
    "VUSPR": "_torchmetrics",
    "VUSROC": "_torchmetrics",
    "affiliation": "_affiliation",
    "affiliation_f1": "_affiliation",
    "auc_pr": "_ranking",
    "auc_roc": "_ranking",
    "best_f1": "_ranking",
    "cce": "_cce",
    "f1_pa": "_ranking",
    "pate": "_pate",
    "vus": "_vus",
    "vus_pr": "_vus",
    "vus_roc": "_vus",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name.startswith("_"):  # modules of this package; what follows needs the compiled kernels
        raise AttributeError(f"tsadeval.torch has no {name!r}")
    if name not in _HOMES:
        from tsadeval.core.metric import METRICS
        from tsadeval.core.names import did_you_mean

        hint = f": {did_you_mean(name, __all__)}"
        if name in METRICS:
            hint = f": of tensors use te.metrics.{name}(target, preds), on the CPU; here are {', '.join(__all__)}"
        raise AttributeError(f"tsadeval.torch has no {name!r}{hint}")
    require("torch", extra="torch")
    if _HOMES[name] == "_torchmetrics":
        require("torchmetrics", extra="torch")
    value = getattr(importlib.import_module(f"tsadeval.torch.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(_HOMES)
