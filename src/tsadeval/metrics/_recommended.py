"""`recommend`: which metric to use for which purpose, from the hard suite, the audit and the properties."""

from tsadeval.core.parameters import OneOf, check_parameters
from tsadeval.core.results import ResultTable, Row

__all__ = ["recommend"]

# By purpose: (metric as `te.evaluate` reads it, why). docs/choosing.md has the numbers behind each line.
PURPOSES: dict[str, tuple[tuple[str, str], ...]] = {
    "ranking": (
        (
            "ears",
            "orders detectors best on the hard tasks, has a fixed level of chance and ignores the scale of scores",
        ),
        ("vus_pr", "what recent benchmarks report; agrees with EARS on real detectors"),
        ("cce(normalize='robust')", "explains every event and normal stretch; robust against outliers and scales"),
    ),
    "threshold": (
        ("f1", "point by point; its best threshold is exact"),
        ("event_f1", "events found against false episodes; does not prefer long events"),
        ("composite_f1", "events found against the precision of points"),
    ),
    "alarms": (
        ("false_alarms", "false episodes per 1,000 points: the load on whoever reads the alarms"),
        ("event_f1", "events found against false episodes"),
        ("detection_delay", "how late the first alarm of an event is"),
    ),
    "paper": (
        ("ears", "the order of detectors"),
        ("vus_pr", "for comparison with recent benchmarks"),
        ("cce(normalize='robust')", "steady scores within events, on one scale for all detectors"),
        ("auc_roc", "for comparison with older work; the share of anomalies does not matter to it"),
        ("f1", "at its best threshold, an upper bound that everybody can read"),
        ("event_f1", "events rather than points"),
        ("false_alarms", "what the detections cost"),
        ("detection_delay", "how early they are"),
    ),
}


def recommend(purpose: str = "ranking") -> ResultTable:
    """Metrics for a purpose, the most useful first.

    Parameters
    ----------
    purpose : {"ranking", "threshold", "alarms", "paper"}, default="ranking"
        To order detectors; to choose a threshold; to work under a budget of alarms; to fill the table of a paper.

    Returns
    -------
    ResultTable
        A table of metrics and reasons, with `metrics`, a list that `te.evaluate` takes. The set "recommended" has
        seven metrics that say different things.

    Examples
    --------
    >>> import tsadeval as te
    >>> te.metrics.recommend("alarms").metrics
    ['false_alarms', 'event_f1', 'detection_delay']
    >>> sorted(te.evaluate([0, 1, 1, 0, 0, 0], [1, 9, 7, 2, 3, 0], "recommended"))
    ["cce(normalize='robust')", 'detection_delay', 'ears', 'event_f1', 'f1', 'false_alarms', 'vus_pr']
    """
    check_parameters("recommend", {"purpose": OneOf(tuple(PURPOSES))}, {"purpose": purpose})
    rows: list[Row] = [{"metric": metric, "why": why} for metric, why in PURPOSES[purpose]]
    return ResultTable(rows, metrics=[row["metric"] for row in rows])
