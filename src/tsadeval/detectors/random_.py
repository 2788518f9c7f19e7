"""Random scores: what every detector has to beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats


@detector(
    name="random",
    title="Random",
    summary="Random scores, independent of the series.",
    scoring="an independent uniform number",
    reference="none",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class RandomDetector(Detector):
    """Independent uniform scores between 0 and 1: the same for the same seed and length, whatever the series."""

    random_state: int = option(0, Number(0, 2**32 - 1, integer=True), "of the scores")

    def _fit(self, series: Floats) -> None:
        pass

    def _score(self, series: Floats) -> Floats:
        return np.random.default_rng(self.random_state).random(len(series))
