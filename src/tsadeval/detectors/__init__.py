"""Detectors with the interface of scikit-learn: `fit(X_train)`, then `score(X_test)`, one finite score per point.

The files beside this one hold the detectors and register their records when imported; adding one edits nothing here.
Importing this package loads neither scikit-learn nor torch: they come with the first detector.

>>> import tsadeval as te
>>> "lof" in te.detectors.DETECTORS
True
>>> print(te.detectors.make("lof( window = 50 )", random_state=1))
lof(window=50, random_state=1)
"""

from typing import TYPE_CHECKING

from tsadeval.core.names import load_late
from tsadeval.detectors.records import DETECTORS, DetectorRecord, detector, make, option, parse_detector

if TYPE_CHECKING:
    from tsadeval.detectors.base import DeepDetector, Detector
    from tsadeval.detectors.wrapping import wrap

__all__ = [
    "DETECTORS",
    "DeepDetector",
    "Detector",
    "DetectorRecord",
    "detector",
    "make",
    "option",
    "parse_detector",
    "wrap",
]

# Names that need scikit-learn, so they are loaded when first used.
_HOMES = {
    "DeepDetector": "tsadeval.detectors.base",
    "Detector": "tsadeval.detectors.base",
    "wrap": "tsadeval.detectors.wrapping",
}


if not TYPE_CHECKING:  # a checker that saw it would take every name for one of ours
    __getattr__ = load_late(__name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
