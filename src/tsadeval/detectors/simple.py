"""The simplest detectors: random scores, squared differences, moving variance."""

from dataclasses import dataclass

import numpy as np

from tsadeval.core.parameters import Number
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats, batch_size, windows


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
    """Random scores: what every detector has to beat."""

    random_state: int = option(0, Number(0, 2**32 - 1, integer=True), "of the scores")

    def _score(self, series: Floats) -> Floats:
        return np.random.default_rng(self.random_state).random(len(series))


@detector(
    name="squared_difference",
    title="SquaredDiff",
    summary="One-liner: the squared difference to the point before.",
    scoring="squared difference to the point before, mean over columns",
    reference="Wu and Keogh, Current Time Series Anomaly Detection Benchmarks are Flawed, TKDE 2021",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class SquaredDifference(Detector):
    """Squared difference: how far each point is from the one before.

    One of the one-line detectors of Wu, Keogh: Current Time Series Anomaly Detection Benchmarks are Flawed and are
    Creating the Illusion of Progress, TKDE 2021: what these find needs no model. Nothing is learnt but the scale of
    the columns. The first point gets the score of the second.
    """

    def span(self, columns: int) -> int:
        """Return 2: a point and the one before."""
        return 2

    def _score(self, series: Floats) -> Floats:
        steps = np.square(np.diff(self.scaler_(series), axis=0)).mean(axis=1)
        return np.append(steps[0], steps)


@detector(
    name="moving_variance",
    title="MovingVar",
    summary="One-liner: the variance of the points around a point.",
    scoring="variance of the window centred on a point, mean over columns",
    reference="Wu and Keogh, Current Time Series Anomaly Detection Benchmarks are Flawed, TKDE 2021",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class MovingVariance(Detector):
    """Moving variance: the variance of the points around each point.

    One of the one-line detectors of Wu, Keogh: Current Time Series Anomaly Detection Benchmarks are Flawed and are
    Creating the Illusion of Progress, TKDE 2021: what these find needs no model. Nothing is learnt but the scale of
    the columns. The points of half a window at either end get the score of the nearest point with a whole window.
    """

    window: int = option(10, Number(2, integer=True), "points a window")

    def _score(self, series: Floats) -> Floats:
        cut = windows(self.scaler_(series), self.window)
        step = batch_size(self.window, series.shape[1])
        of_windows = [cut[at : at + step].var(axis=1).mean(axis=1) for at in range(0, len(cut), step)]
        before = self.window // 2
        return np.pad(np.concatenate(of_windows), (before, self.window - 1 - before), mode="edge")
