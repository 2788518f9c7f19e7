"""Metrics of batches of series on a GPU or CPU, losses to train with, and torchmetrics classes.

Arguments come in torch's order, `(preds, target)`. Needs `pip install 'tsadeval[torch]'`. Values equal those of
`tsadeval.metrics`; sums are in float64, so a device needs that type.
"""

from typing import Any

from tsadeval._optional import require
from tsadeval.core.names import load_late

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
_load = load_late(__name__, {name: f"{__name__}.{home}" for name, home in _HOMES.items()})


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        for needed in ("torch", "torchmetrics")[: 1 + (_HOMES[name] == "_torchmetrics")]:
            require(needed, extra="torch")
    elif not name.startswith("_"):  # else a module of this package; what follows needs the compiled kernels
        from tsadeval.core.metric import METRICS

        if name in METRICS:
            hint = f"of tensors use te.metrics.{name}(target, preds), on the CPU; here are {', '.join(__all__)}"
            raise AttributeError(f"tsadeval.torch has no {name!r}: {hint}")
    return _load(name)


def __dir__() -> list[str]:
    return sorted(_HOMES)
