"""Detectors on windows: neighbours, clusters, trees, margins, components, histograms (scikit-learn), matrix profile."""

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from tsadeval._optional import require
from tsadeval.core.parameters import Flag, Number, OneOf
from tsadeval.detectors.base import Detector
from tsadeval.detectors.records import detector, option
from tsadeval.detectors.series import Floats, Scaler, batch_size, sample, score_points, windows
from tsadeval.errors import InvalidInputError

# Of the matrix profile: windows of either side of a product; a smaller deviation than this, on the scale of the
# training part, is rounding.
_BLOCK, _CONSTANT = 2048, 1e-10


@dataclass(kw_only=True, eq=False, repr=False)
class WindowedDetector(Detector):
    """A detector whose model judges windows, each as one row of window times columns values.

    A subclass writes `learn`, which gives the model, and `judge` where it is no outlier detector of scikit-learn.
    """

    window: int | None = option(
        None, Number(1, integer=True, none=True), "points a window; None: 100 for one column, 1 for several"
    )
    max_windows: int | None = option(
        10_000, Number(2, integer=True, none=True), "windows to learn from, drawn from the training part; None: all"
    )
    random_state: int = option(0, Number(0, 2**32 - 1, integer=True), "of the draw of windows and of the model")

    # A window of one column is a shape, and 100 points of it are what most benchmarks use. Windows of many columns have
    # too many values to be near or far in any useful sense, so there a point is compared by its columns.
    of_several: ClassVar[int] = 1

    @abstractmethod
    def learn(self, rows: Floats) -> Any:
        """Fit a model of the training windows."""

    def judge(self, rows: Floats) -> Floats:
        """Score each window; scikit-learn's scores are low for outliers."""
        return np.asarray(-self.model_.score_samples(rows))

    def span(self, columns: int) -> int:
        """One window."""
        if self.window is not None:
            return self.window
        return 100 if columns == 1 else self.of_several

    def _fit(self, series: Floats) -> None:
        scaler = Scaler.standard(series)
        all_windows = windows(scaler(series), self.span(series.shape[1]))
        chosen = all_windows[sample(len(all_windows), self.max_windows, self.random_state)]
        self.model_ = self.learn(chosen.reshape(len(chosen), -1))
        self.scaler_ = scaler

    def _score(self, series: Floats) -> Floats:
        columns = series.shape[1]
        window = self.span(columns)
        all_windows = windows(self.scaler_(series), window)
        return score_points(
            len(series),
            window,
            lambda starts: self.judge(all_windows[starts].reshape(len(starts), -1)),
            batch=batch_size(window, columns),
        )


@detector(
    name="knn",
    title="KNN",
    summary="Nearest neighbours: windows far from their k-th nearest training window.",
    scoring="distance of a window to its k-th nearest training window, mean over covering windows",
    reference="Ramaswamy et al., Efficient Algorithms for Mining Outliers from Large Data Sets, SIGMOD 2000",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class KNN(WindowedDetector):
    """KNN: the distance from a window to its k-th nearest training window.

    Ramaswamy, Rastogi, Shim: Efficient Algorithms for Mining Outliers from Large Data Sets, SIGMOD 2000. Euclidean
    distance of scaled windows, with k = 5 as in common implementations. A window that is itself in the training
    part is its own nearest neighbour, so of a series that is scored by a model of itself the k - 1 nearest other
    windows count.
    """

    neighbors: int = option(5, Number(1, integer=True), "the k-th nearest training window counts")

    def learn(self, rows: Floats) -> Any:
        """Index the training windows."""
        return require("sklearn.neighbors", extra="all").NearestNeighbors(n_neighbors=self.neighbors).fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """Compute the distances to the k-th nearest training window, or to the farthest where there are fewer."""
        nearest = min(self.neighbors, self.model_.n_samples_fit_)
        return np.asarray(self.model_.kneighbors(rows, nearest)[0][:, -1])


@detector(
    name="lof",
    title="LOF",
    summary="Local outlier factor: windows in sparser surroundings than their nearest training windows.",
    scoring="local outlier factor of a window, mean over covering windows",
    reference="Breunig et al., LOF: Identifying Density-Based Local Outliers, SIGMOD 2000",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class LOF(WindowedDetector):
    """LOF: how much sparser the training windows lie around a window than around its neighbours.

    Breunig, Kriegel, Ng, Sander: LOF: Identifying Density-Based Local Outliers, SIGMOD 2000. scikit-learn's
    implementation, told what is normal by the training part alone (novelty detection), with its default of 20
    neighbours. Windows that are equal to the last bit count once: twenty copies of one window have an infinite
    density, and every other window would look anomalous beside them. `novelty=False` is the paper's own setting: all
    windows of one series are compared with each other.
    """

    neighbors: int = option(20, Number(1, integer=True), "training windows that a window is compared with")
    novelty: bool = option(
        True, Flag(), "False: outliers among the fitted windows, all of them, so that only their series can be scored"
    )

    def learn(self, rows: Floats) -> Any:
        """Fit the densities of the distinct windows, or of all."""
        if not self.novelty:
            with warnings.catch_warnings():  # of equal values, which a series has
                warnings.filterwarnings("ignore", "Duplicate values")
                return require("sklearn.neighbors", extra="all").LocalOutlierFactor(self.neighbors).fit(rows)
        distinct = np.unique(rows, axis=0)
        if len(distinct) == 1:  # a constant training part: its one window is its own neighbour
            distinct = np.repeat(distinct, 2, axis=0)
        neighbors = min(self.neighbors, len(distinct) - 1)
        return require("sklearn.neighbors", extra="all").LocalOutlierFactor(neighbors, novelty=True).fit(distinct)

    def _score(self, series: Floats) -> Floats:
        if self.novelty:
            return super()._score(series)
        window = self.span(series.shape[1])
        rows = windows(self.scaler_(series), window)
        if not np.array_equal(rows.reshape(len(rows), -1), self.model_._fit_X):
            raise InvalidInputError(
                f"{self} knows the outliers of the series that it was fitted on only (all of its windows: max_windows="
                "None): fit it on the series to score, as te.detect does with fit='test', or leave novelty=False out"
            )
        found = -self.model_.negative_outlier_factor_
        return score_points(len(series), window, lambda starts: found[starts], batch=batch_size(window, 1))


@detector(
    name="kmeans_ad",
    title="KMeansAD",
    summary="k-means: windows far from all centres of the training windows.",
    scoring="distance of a window to the nearest centre, mean over covering windows",
    reference="Yairi et al., Fault Detection by Mining Association Rules from House-keeping Data, i-SAIRAS 2001",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class KMeansAD(WindowedDetector):
    """k-means-AD: the distance from a window to the nearest of a few centres of the training windows.

    Yairi, Kato, Hori: Fault Detection by Mining Association Rules from House-keeping Data, i-SAIRAS 2001.
    scikit-learn's k-means; the score is the Euclidean distance of a window to its nearest centre, as in the
    TimeEval and aeon versions, with 20 centres as in aeon.
    """

    clusters: int = option(20, Number(1, integer=True), "number of centres")

    def learn(self, rows: Floats) -> Any:
        """Find the centres; there are no more than distinct windows."""
        clusters = min(self.clusters, len(np.unique(rows, axis=0)))
        make = require("sklearn.cluster", extra="all").KMeans
        return make(clusters, n_init=3, random_state=self.random_state).fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """Compute the distances to the nearest centre."""
        return np.asarray(self.model_.transform(rows).min(axis=1))


@detector(
    name="iforest",
    title="IForest",
    summary="Isolation forest: windows that few random cuts set apart.",
    scoring="2 to the minus (mean depth over expected depth) of a window, mean over covering windows",
    reference="Liu et al., Isolation Forest, ICDM 2008",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class IsolationForest(WindowedDetector):
    """Isolation forest: how few random cuts it takes to set a window apart.

    Liu, Ting, Zhou: Isolation Forest, ICDM 2008. scikit-learn's implementation with the paper's 100 trees, each
    grown on 256 windows. `max_features=1, centre=True` is how the benchmark TSB-AD runs it; that it scales every value
    of a window by itself as well changes no cut.
    """

    trees: int = option(100, Number(1, integer=True), "number of trees")
    tree_windows: int = option(256, Number(2, integer=True), "windows that a tree is grown on")
    max_features: int | None = option(
        None, Number(1, integer=True, none=True), "values of a window that a tree looks at; None: all"
    )
    centre: bool = option(False, Flag(), "a window's score belongs to its centre; else to all its points")

    def learn(self, rows: Floats) -> Any:
        """Grow the forest."""
        forest = require("sklearn.ensemble", extra="all").IsolationForest(
            n_estimators=self.trees,
            max_samples=min(self.tree_windows, len(rows)),
            max_features=min(self.max_features or rows.shape[1], rows.shape[1]),
            random_state=self.random_state,
        )
        return forest.fit(rows)

    def judge(self, rows: Floats) -> Floats:
        """Score each window; as scores of single points where they belong to the centres."""
        return super().judge(rows)[:, None] if self.centre else super().judge(rows)

    def _score(self, series: Floats) -> Floats:
        found, window = super()._score(series), self.span(series.shape[1])
        if not self.centre:
            return found
        # Those of the windows, from the place of the last point back to the centre; the ends repeat the first and last.
        return np.pad(found[window - 1 :], (window // 2, (window - 1) // 2), mode="edge")


@detector(
    name="ocsvm",
    title="OCSVM",
    summary="One-class support vector machine: windows outside the region of the training windows.",
    scoring="minus the kernel sum over the support vectors of a window, mean over covering windows",
    reference="Schölkopf et al., Estimating the Support of a High-Dimensional Distribution, Neural Computation 2001",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class OCSVM(WindowedDetector):
    """One-class SVM: windows outside the region that holds all but a small share of the training windows.

    Schölkopf, Platt, Shawe-Taylor, Smola, Williamson: Estimating the Support of a High-Dimensional Distribution,
    Neural Computation 2001. scikit-learn's implementation with a Gaussian kernel. Its training grows with the
    square of the number of windows, so it learns from 3,000 at most. Far from all training windows the kernel is 0,
    so all far windows have the same score.
    """

    max_windows: int | None = option(
        3_000, Number(2, integer=True, none=True), "windows to learn from, drawn from the training part; None: all"
    )
    nu: float = option(0.05, Number(0, 1, open_low=True), "at most this share of the training windows lies outside")
    gamma: float | str = option(
        "scale",
        Number(0, open_low=True, words=("scale",)),
        "of the kernel exp(-gamma |x - y|^2); scale: 1 / (values of a window * their variance)",
    )

    def learn(self, rows: Floats) -> Any:
        """Find the support vectors."""
        return require("sklearn.svm", extra="all").OneClassSVM(nu=self.nu, gamma=self.gamma).fit(rows)


@detector(
    name="pca",
    title="PCA",
    summary="Principal components: windows that the main directions of the training windows do not explain.",
    scoring="mean squared reconstruction error of a window, mean over covering windows",
    reference="Shyu et al., A Novel Anomaly Detection Scheme Based on Principal Component Classifier, ICDM 2003",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class PCA(WindowedDetector):
    """PCA: what is left of a window once its projection on the main directions of the training windows is taken away.

    Shyu, Chen, Sarinnapakorn, Chang: A Novel Anomaly Detection Scheme Based on Principal Component Classifier,
    2003; here by the squared reconstruction error, as is common. As many components are kept as explain 90 % of the
    variance.
    """

    variance: float = option(0.9, Number(0, 1, open_low=True), "share of the variance that the kept components explain")

    def learn(self, rows: Floats) -> Any:
        """Find the centre and the main directions."""
        model = require("sklearn.decomposition", extra="all").PCA(random_state=self.random_state)
        with np.errstate(invalid="ignore"):  # shares of no variance at all: a constant training part
            model.fit(rows)
        explained = np.cumsum(model.explained_variance_)
        # Of a constant training part one direction is kept, whichever; it explains nothing.
        kept = int(np.searchsorted(explained, self.variance * explained[-1])) + 1
        # In one order in memory, also after a round through pickle: products depend on it in the last digit.
        return model.mean_, np.ascontiguousarray(model.components_[:kept])

    def judge(self, rows: Floats) -> Floats:
        """Compute the errors of the windows."""
        centre, directions = self.model_
        away = rows - centre
        away -= (away @ directions.T) @ directions
        return np.asarray(np.square(away).mean(axis=1))


@detector(
    name="hbos",
    title="HBOS",
    summary="Histograms: windows whose values are rare, each by itself.",
    scoring="sum of log2(1 / (histogram height + alpha)) over the values of a window, mean over covering windows",
    reference="Goldstein and Dengel, Histogram-Based Outlier Score (HBOS), KI 2012",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class HBOS(WindowedDetector):
    """HBOS: how rare the values of a window are, each by a histogram of its own.

    Goldstein, Dengel: Histogram-Based Outlier Score (HBOS): A Fast Unsupervised Anomaly Detection Algorithm, KI
    2012. Each of the window times columns values has a histogram of equally wide bins over the range of the
    training windows, with a highest bin of height 1. The score of a window is the sum of log2(1 / (height + alpha))
    over its values; alpha keeps empty bins, and values outside the range, finite (the paper does not say what they
    count).
    """

    bins: int = option(10, Number(1, integer=True), "bins of a histogram")
    alpha: float = option(0.1, Number(0, open_low=True), "added to every height, so that empty bins are finite")

    def learn(self, rows: Floats) -> Any:
        """Lower ends, widths and heights of the bins of every value."""
        low = rows.min(axis=0)
        width = (rows.max(axis=0) - low) / self.bins
        width[width == 0] = 1.0  # a constant value fills the first bin
        places = np.minimum((rows - low) / width, self.bins - 1).astype(np.int64)
        cells = places + np.arange(rows.shape[1]) * self.bins
        counts = np.bincount(cells.ravel(), minlength=rows.shape[1] * self.bins).reshape(rows.shape[1], self.bins)
        return low, width, counts / counts.max(axis=1, keepdims=True)

    def judge(self, rows: Floats) -> Floats:
        """Sum over all values of each window."""
        low, width, heights = self.model_
        places = (rows - low) / width
        # The highest training value belongs to the last bin; rounding must not put it outside.
        outside = (places < 0) | (places > self.bins * (1 + 1e-12))
        inside = np.clip(places, 0, self.bins - 1).astype(np.int64)
        height = np.where(outside, 0.0, heights[np.arange(rows.shape[1]), inside])
        return np.asarray(-np.log2(height + self.alpha).sum(axis=1))


@detector(
    name="matrix_profile",
    title="MP",
    summary="Matrix profile: windows whose shape is unlike that of every training window.",
    scoring="z-normalised distance of a window to the nearest one, mean over columns and over covering windows",
    reference="Yeh et al., Matrix Profile I: All Pairs Similarity Joins for Time Series, ICDM 2016",
    extra="all",
)
@dataclass(kw_only=True, eq=False, repr=False)
class MatrixProfile(Detector):
    """Matrix profile: the distance from a window to the nearest training window, by their shapes.

    Yeh, Zhu, Ulanova, Begum, Ding, Dau, Silva, Mueen, Keogh: Matrix Profile I: All Pairs Similarity Joins for Time
    Series, ICDM 2016. Windows are compared after each has been brought to mean 0 and deviation 1, so their shape counts
    and their level and height do not; a constant window is zero everywhere. Of several columns each has a profile of
    its own, and the score is their mean. The profile is that of `stumpy.stump`, computed here by products of blocks of
    windows.

    With `join="train"` a window is compared with the training windows (an AB-join): what the training part has shown is
    normal. With `join="self"` it is compared with the other windows of the scored series, except those that start
    within a quarter of a window, and the training part only gives the scale: the classical discord. An anomaly that
    comes twice has a near neighbour then.
    """

    window: int = option(100, Number(3, integer=True), "points a window")
    join: Literal["train", "self"] = option(
        "train", OneOf(("train", "self")), "compare with the training windows, or with those of the scored series"
    )

    def _fit(self, series: Floats) -> None:
        super()._fit(series)
        self.train_ = self.scaler_(series) if self.join == "train" else None

    def _score(self, series: Floats) -> Floats:
        scaled = self.scaler_(series)
        trained = [None] * scaled.shape[1] if self.train_ is None else self.train_.T
        mean = np.mean([profile(own, self.window, train) for own, train in zip(scaled.T, trained, strict=True)], axis=0)
        return score_points(len(series), self.window, lambda starts: mean[starts], batch=len(series))


def profile(values: Floats, window: int, train: Floats | None = None) -> Floats:
    """Compute the distance of each window to the nearest one of `train`, or to the nearest other one of `values`.

    Of a series with no other window outside the quarter of a window on either side, the distances are 0.

    >>> import numpy as np
    >>> profile(np.array([0.0, 1.0, 0.0, 2.0, 0.0]), 3, np.array([0.0, 5.0, 0.0])).round(3)
    array([0.   , 3.346, 0.   ])
    """
    cut = windows(values[:, None], window)[..., 0]
    other = cut if train is None else windows(train[:, None], window)[..., 0]
    apart = -(-window // 4)
    nearest = np.full(len(cut), np.inf)
    for at in range(0, len(cut), _BLOCK):
        rows = _shapes(cut[at : at + _BLOCK])
        own = np.square(rows).sum(axis=1)
        for other_at in range(0, len(other), _BLOCK):
            columns = _shapes(other[other_at : other_at + _BLOCK])
            squares = np.square(columns).sum(axis=1) - 2 * (rows @ columns.T)
            squares += own[:, None]
            if train is None:
                starts, other_starts = at + np.arange(len(rows)), other_at + np.arange(len(columns))
                squares[np.abs(starts[:, None] - other_starts) <= apart] = np.inf
            np.minimum(nearest[at : at + len(rows)], squares.min(axis=1), out=nearest[at : at + len(rows)])
    nearest[np.isinf(nearest)] = 0.0
    return np.asarray(np.sqrt(np.maximum(nearest, 0.0)))


def _shapes(cut: Floats) -> Floats:
    """Windows brought to mean 0 and deviation 1."""
    away: Floats = cut - cut.mean(axis=1, keepdims=True)
    deviation = away.std(axis=1, keepdims=True)
    away /= np.where(deviation > _CONSTANT, deviation, np.inf)
    return away
