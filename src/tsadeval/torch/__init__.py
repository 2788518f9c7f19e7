"""tsadeval on tensors: metrics of batches of series on their device, losses to train with, torchmetrics classes.

Arguments come in torch's order, `(preds, target)`. Needs `pip install 'tsadeval[torch]'`.
"""

from __future__ import annotations

from tsadeval.torch._cce import cce
from tsadeval.torch._ranking import auc_pr, auc_roc, best_f1, f1_pa
from tsadeval.torch._vus import vus, vus_pr, vus_roc

__all__ = ["auc_pr", "auc_roc", "best_f1", "cce", "f1_pa", "vus", "vus_pr", "vus_roc"]
