"""The best threshold as a metric's record finds it, and the metric there."""

from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS


def swept(name, y, s, **options):
    """(v, value) of the alarms `score >= v` that are best over all distinct scores v."""
    metric, data = METRICS[name].with_options(**options), Scoring.of(y, s)
    v = metric.best(data, **metric.options)
    return v, metric.value_of(data.at_least(v))[0]
