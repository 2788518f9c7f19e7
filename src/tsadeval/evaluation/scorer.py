"""`scorer`: a metric as a scorer of scikit-learn, for cross-validation and searches."""

from typing import Any

import numpy as np

from tsadeval.core.facts import Reason
from tsadeval.core.metric import Metric, Outcome, Rule
from tsadeval.core.selection import AnyMetric, select_metric
from tsadeval.detectors.estimators import anomaly_scores
from tsadeval.errors import InvalidInputError, warn_undefined
from tsadeval.scores.scored import has_dates, observe
from tsadeval.thresholds.rules import parse_rule


class Scorer:
    """A callable `(estimator, X, y) -> float`, higher for better; made by `te.scorer`."""

    def __init__(self, metric: Metric, rule: Rule) -> None:
        self.metric = metric
        self.rule = rule
        self.sign = -1.0 if metric.direction == "lower" else 1.0

    def __call__(self, estimator: Any, X: Any, y: Any = None) -> float:
        """Return the metric of a fitted estimator's scores for X against the labels y."""
        if y is None:
            raise InvalidInputError("y is missing: the scorer needs labels, 0 for normal and 1 for anomalous points")
        scores = anomaly_scores(estimator, X)
        if scores.ndim != 1 or len(scores) != len(y):
            raise InvalidInputError(
                f"the estimator must give one score for each of the {len(y)} points of y, but gave {scores.shape}"
            )
        scoring = observe(np.asarray(y), scores, times=_times(y, X))
        outcome = self.metric.run(scoring, self.rule)
        if outcome.message is not None:
            warn_undefined(str(self.metric), self._advice(outcome, outcome.message))
        return self.sign * outcome.value

    def _advice(self, outcome: Outcome, message: str) -> str:
        if outcome.reason == Reason.NEEDS_TIMES:
            return "an option is a time: give X or y an index of times (pandas)"
        if outcome.reason == Reason.NO_ANOMALY:
            return f"{message}; choose folds that all have some, e.g. TimeSeriesSplit(n, test_size=...)"
        return message

    def __repr__(self) -> str:
        return f"scorer({str(self.metric)!r}){', negated' if self.sign < 0 else ''}"


def _times(*parts: Any) -> Any:
    """Return the index of times of y or X; None of folds that are shuffled, in which there is no order of time."""
    for part in parts:
        if has_dates(part) and part.index.is_monotonic_increasing and part.index.is_unique:
            return part.index
    return None


def scorer(metric: AnyMetric, *, threshold: str | float | Rule = "best", **options: Any) -> Scorer:
    """Make a scorer of scikit-learn from a metric, for `cross_val_score`, `GridSearchCV` and all that take `scoring=`.

    Estimators are asked for anomaly scores in their own way, so that higher is always more anomalous:

    - outlier detectors of scikit-learn: `-score_samples(X)`, or `-decision_function(X)` where there is no such method;
    - models of PyOD: `decision_function(X)`;
    - detectors of tsadeval: `score(X)`;
    - classifiers: the probability of class 1, `predict_proba(X)[:, 1]`.

    Pipelines and searches are asked as their last step is. Anything else is refused: its sign is not known.

    Parameters
    ----------
    metric : str, function or Metric
        One metric: "vus_pr", "cce(tau=0.4)", or a function `(y_true, y_score) -> float`.
    threshold : str, number or rule, default="best"
        How scores become predictions, for metrics of predictions; as for `te.evaluate`. "best" uses the labels.
    **options
        Of the metric: `te.scorer("vus_pr", window=50)` is `te.scorer("vus_pr(window=50)")`.

    Returns
    -------
    Scorer
        A callable `(estimator, X, y) -> float`. Searches of scikit-learn maximise, so the value of a metric whose
        direction is "lower" is negated. It is NaN, with a warning, where the metric is undefined: a fold without
        an anomaly has no VUS-PR. Where y or X has an index of times (pandas), options of the metric may be durations.

    Examples
    --------
    >>> import numpy as np
    >>> import tsadeval as te
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.model_selection import TimeSeriesSplit, cross_val_score
    >>> X, y = np.random.default_rng(0).normal(size=(300, 2)), np.zeros(300, dtype=int)
    >>> y[[130, 190, 280]] = 1
    >>> X[y == 1] += 8
    >>> forest = IsolationForest(n_estimators=20, random_state=0)
    >>> cross_val_score(forest, X, y, cv=TimeSeriesSplit(3, test_size=60), scoring=te.scorer("auc_roc"))
    array([1., 1., 1.])
    """
    chosen = select_metric(metric)
    return Scorer(chosen.with_options(**options) if options else chosen, parse_rule(threshold))
