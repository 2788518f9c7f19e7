"""The paper's example: five models of known order on one short series."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tsadeval.core.events import Events
from tsadeval.core.inputs import Bools, Floats, Scoring
from tsadeval.core.metric import parse_metric
from tsadeval.core.results import MappingResult
from tsadeval.rankeval.generators import GENERATORS, PUBLISHED_NOISE_SEED, draw
from tsadeval.rankeval.labels import _synthetic
from tsadeval.thresholds.rules import fixed

# (q, p), from the best model to the worst.
MEMBERS = ((1.0, 0.05), (0.9, 0.05), (0.9, 0.1), (0.9, 0.3), (0.8, 0.3))
SIGMA = 0.1
QUANTILE = 0.95
# The paper's columns, CCE with the uncertainty that its example has.
METRICS = (
    "cce(uncertainty='scaled')",
    "reduced_f1",
    "etapr_f1",
    "affiliation_f1",
    "vus_roc(n_thresholds=100)",
)


@dataclass(frozen=True, eq=False)
class Model:
    """One model: its place in the true order, its name, its scores and the threshold of its alarms."""

    rank: int
    name: str
    scores: Floats
    threshold: float

    @property
    def alarms(self) -> Bools:
        """Scores at the threshold are alarms here, as in the published example and nowhere else."""
        return np.asarray(self.scores >= self.threshold)


def labels() -> Events:
    """The two events, from their published seed."""
    return _synthetic(n=500, segments=2, longest=50, shortest=30, seed=43)


def five_models() -> list[Model]:
    """The models, from the best to the worst.

    >>> [model.name for model in five_models()][:2]
    ['PreQ1.0-NegP0.05-R', 'PreQ0.9-NegP0.05-R']
    """
    mask = labels().mask()
    models = []
    for rank, (q, p) in enumerate(MEMBERS, start=1):
        scores = draw(GENERATORS["PreQ-NegP"], mask, "published", (PUBLISHED_NOISE_SEED,), q, p, SIGMA)
        models.append(Model(rank, f"PreQ{q}-NegP{p}-R", scores, float(np.quantile(scores, QUANTILE))))
    return models


def five_models_table() -> MappingResult:
    """What five metrics say of them; a row per model, `value` is CCE.

    >>> round(five_models_table()["PreQ1.0-NegP0.05-R"], 3)
    0.768
    """
    mask = labels().mask()
    metrics = [parse_metric(text) for text in METRICS]
    rows = []
    for model in five_models():
        scoring = Scoring.of(mask, model.scores, model.alarms)
        found = {m.label: m.run(scoring, fixed(model.threshold)).value for m in metrics}
        rows.append({"rank": model.rank, "model": model.name, **found, "value": found[metrics[0].label]})
    return MappingResult(rows, key="model", shown=["rank", "model", *(m.label for m in metrics)])
