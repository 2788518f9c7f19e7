"""The picture of a series with the scores of several detectors."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

import tsadeval as te
from tsadeval import plot
from tsadeval.datasets.dataset import Split, assemble
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.plot.series import RIGHT, WRONG, _colors

pytestmark = pytest.mark.slow

N = 600
LABELS = np.zeros(N, bool)
LABELS[200:230] = LABELS[500:505] = True
VALUES = np.sin(np.arange(N) / 7) + LABELS
SCORES = {
    "right": LABELS.astype(float),
    "wrong": 1.0 - LABELS,
    "noise": np.random.default_rng(0).random(N),
}


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def spans(ax):
    """Left, right, bottom, top and colour of every coloured piece."""
    found = []
    for bars in ax.collections:
        colors = np.broadcast_to(bars.get_facecolor(), (len(bars.get_paths()), 4))
        for path, color in zip(bars.get_paths(), colors, strict=True):
            (x0, y0), (x1, y1) = path.vertices.min(axis=0), path.vertices.max(axis=0)
            found.append((x0, x1, y0, y1, tuple(color)))
    return found


def test_rows_lines_and_values():
    ax = plot.series_with_scores((VALUES, LABELS), SCORES, metrics=["cce", "f1"], threshold="quantile(0.9)")
    assert rows(ax) == ["series", "right", "wrong", "noise"]
    assert ax.get_xlim() == (-0.5, N - 0.5)
    lines = [line for line in ax.lines if len(line.get_xdata()) == N]
    assert len(lines) == 4
    heights = [float(np.floor(line.get_ydata().min())) for line in lines]
    assert heights == sorted(heights, reverse=True)  # one under the other
    for line, given in zip(lines, [VALUES, *SCORES.values()], strict=True):
        y = line.get_ydata()
        assert np.corrcoef(y, given)[0, 1] == pytest.approx(1)
        assert np.ptp(y) == pytest.approx(1)
    texts = [text.get_text() for text in ax.texts]
    for detector in SCORES:
        found = te.evaluate(LABELS, SCORES[detector], ["cce", "f1"], threshold="quantile(0.9)")
        assert f"{found['f1']:.3f}" in texts
        assert f"{found['cce'] + 0.0:.3f}" in texts
    assert {"CCE", "F1"} <= set(texts)


def test_events_have_the_colour_of_their_score():
    ax = plot.series_with_scores((VALUES, LABELS), SCORES)
    pieces = spans(ax)
    colors = _colors()
    breakdown = te.cce_breakdown(LABELS, SCORES["noise"]).events
    strips = sorted(piece for piece in pieces if piece[3] == 0)  # under the last row, which is the noise
    assert [(left + 0.5, right + 0.5) for left, right, *_ in strips] == [
        (event["start"], event["stop"]) for event in breakdown
    ]
    for piece, event in zip(strips, breakdown, strict=True):
        assert piece[4] == pytest.approx(tuple(colors.to_rgba(event["score"])))
    seen = {piece[4] for piece in pieces}
    assert to_rgba(RIGHT) in seen
    assert to_rgba(WRONG) in seen
    # An anomaly is a band too: of the series itself and of every detector.
    assert sum(piece[:2] == (199.5, 229.5) and piece[3] - piece[2] > 0.9 for piece in pieces) == 4


@pytest.mark.parametrize("metric", ["f1", "vus_pr", "false_alarms", "ears"])
def test_events_have_the_colour_of_what_they_cost_by_any_other_metric(metric):
    scores = SCORES["noise"] + 0.3 * LABELS
    scores[[3, 210, 501]] = np.nan

    def value(scores):
        (one,) = te.compare([("s", "d", LABELS, scores)], metrics=metric, threshold="quantile(0.95)").rows
        return one["value"] * (-1 if metric == "false_alarms" else 1)

    costs = []
    for start, stop in ((0, 200), (200, 230), (230, 500), (500, 505), (505, N)):
        inside = (np.arange(N) >= start) & (np.arange(N) < stop) & np.isfinite(scores)
        perfect = np.where(inside, np.nanmax(scores) if LABELS[start] else np.nanmin(scores), scores)
        costs.append((start, stop, value(perfect) - value(scores)))
    most = max(cost for *_, cost in costs)
    ax = plot.series_with_scores((VALUES, LABELS), {"d": scores}, color=metric, threshold="quantile(0.95)")
    strips = sorted(piece for piece in spans(ax) if piece[3] == 0)
    for (left, right, *_, color), (start, stop, cost) in zip(strips, costs, strict=True):
        assert (left + 0.5, right + 0.5) == (start, stop)
        assert color == pytest.approx(tuple(_colors(-most, 0.0).to_rgba(-cost)))
    assert to_rgba(WRONG) in [piece[4] for piece in strips]
    (bar,) = (other for other in ax.figure.axes if other is not ax)
    assert bar.get_xlabel().endswith(" that an event costs (strips and bands)")
    assert [text.get_text() for text in bar.get_xticklabels()] == [f"{most:.3g}", "0"]


def test_perfect_scores_cost_nothing_and_an_undefined_metric_has_no_colour():
    ax = plot.series_with_scores((VALUES, LABELS), {"d": SCORES["right"]}, color="f1")
    assert {piece[4] for piece in spans(ax) if piece[3] == 0} == {to_rgba(RIGHT)}
    with pytest.warns(te.errors.UndefinedMetricWarning):
        ax = plot.series_with_scores((VALUES, np.zeros(N)), {"d": SCORES["noise"]}, color="auc_roc", metrics="f1")
    assert [piece[4][3] for piece in spans(ax) if piece[3] == 0] == [0]


def test_a_crop_shows_one_event_and_leaves_the_values_alone():
    whole = plot.series_with_scores((VALUES, LABELS), SCORES)
    ax = plot.series_with_scores((VALUES, LABELS), SCORES, around=0)
    assert ax.get_xlim() == (200 - 120 - 0.5, 230 + 120 - 0.5)
    assert [t.get_text() for t in ax.texts] == [t.get_text() for t in whole.texts]
    last = plot.series_with_scores((VALUES, LABELS), SCORES, around=-1, margin=200)
    assert last.get_xlim() == (299.5, 704.5)
    assert last.lines[-1].get_xdata()[[0, -1]].tolist() == [300, N - 1]
    assert plot.series_with_scores((VALUES, LABELS), SCORES, around=1, margin=0).get_xlim() == (499.5, 504.5)


def test_short_events_have_a_mark():
    def marks(ax):
        return next(line for line in ax.lines if line.get_marker() == "v").get_xdata().tolist()

    assert marks(plot.series_with_scores((VALUES, LABELS), SCORES)) == [502.5]
    assert marks(plot.series_with_scores((VALUES, LABELS), SCORES, around=1)) == []


def test_long_series_keep_their_extremes_and_make_small_files(tmp_path):
    n = 200_000
    labels = np.arange(n) // 100 == 1500
    x = np.random.default_rng(0).normal(size=n)
    x[123_457] = 50
    ax = plot.series_with_scores((x, labels), {"size": np.abs(x)})
    line = max(ax.lines, key=lambda line: len(line.get_xdata()))
    assert line.get_ydata().max() - line.get_ydata().min() == pytest.approx(1)
    assert line.get_xdata()[np.argmax(line.get_ydata())] == 123_457
    ax.figure.savefig(tmp_path / "series.svg")
    assert (tmp_path / "series.svg").stat().st_size < 1_000_000  # matplotlib leaves out what print cannot show


def test_a_data_set_has_a_name_and_columns():
    data = assemble("mine", Split(None, None, LABELS, ()))
    with pytest.raises(InvalidInputError, match="mine has labels only"):
        plot.series_with_scores(data, SCORES)
    both = np.column_stack([VALUES, np.arange(N)])
    data = assemble("mine", Split(both, both, LABELS, ("a", "b")))
    ax = plot.series_with_scores(data, SCORES, column=1)
    assert ax.get_title(loc="left") == "mine"
    line = next(line for line in ax.lines if len(line.get_xdata()) == N)
    assert np.ptp(np.diff(line.get_ydata())) == pytest.approx(0, abs=1e-12)
    mine = Figure().add_subplot()
    assert plot.series_with_scores(data, SCORES, mine, title="Mine") is mine
    assert mine.get_title(loc="left") == "Mine"


def test_constant_scores_and_no_events_can_be_drawn():
    ax = plot.series_with_scores((VALUES, LABELS), {"constant": np.ones(N)})
    ax.figure.savefig("/dev/null", format="png")
    with pytest.warns(te.errors.UndefinedMetricWarning):
        plot.series_with_scores((VALUES, np.zeros(N)), {"noise": SCORES["noise"]}, color="ears")
    with pytest.warns(te.errors.UndefinedMetricWarning):
        ax = plot.series_with_scores((VALUES, np.zeros(N)), {"noise": SCORES["noise"]})
    assert "nan" in [text.get_text() for text in ax.texts]


def test_missing_values_are_gaps():
    values = VALUES.copy()
    values[[3, 7]] = np.nan, np.inf
    line = next(line for line in plot.series_with_scores([values, LABELS], SCORES).lines if len(line.get_xdata()) == N)
    assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [3, 7]
    assert np.nanmax(line.get_ydata()) - np.nanmin(line.get_ydata()) == pytest.approx(1)


@pytest.mark.parametrize("metrics", ["auc_roc", ["cce", "auc_roc", "range_f1", "affiliation_f1"], "paper"])
def test_values_beside_the_rows_have_room(metrics):
    names = {"a detector with a long name": SCORES["noise"], "right": SCORES["right"]}
    ax = plot.series_with_scores((VALUES, LABELS), names, metrics=metrics)
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    heads = [box for text, box in zip(ax.texts, boxes, strict=True) if text.get_weight() == "bold"]
    assert heads[0].x0 > ax.get_window_extent().x1
    assert all(left.x1 < right.x0 for left, right in pairwise(heads))
    assert ax.get_window_extent().width > 1.5 * ax.figure.dpi  # inches


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scores": {}}, "scores is empty"),
        ({"scores": {"a": SCORES["noise"][1:]}}, "detector 'a': y_true has 600 points but y_score has 599"),
        ({"dataset": (VALUES[1:], LABELS)}, "the series has 599 points, but there are 600 labels"),
        ({"dataset": "mine.csv"}, "dataset must be what te.datasets.load returns, or .*, but is 'mine.csv'"),
        ({"dataset": (VALUES * np.nan, LABELS)}, "column 0 of the series has no finite value"),
        ({"scores": SCORES["noise"]}, "scores must be a mapping from detector to scores, but is a ndarray"),
        ({"around": "0"}, "around must be an integer or None, but is '0'"),
        ({"around": 2}, "around must be the number of one of 2 events, but is 2"),
        ({"color": "paper"}, "expected one metric, but 'paper' names 11"),
        ({"margin": -1}, "margin must be an integer >= 0 or None"),
        ({"column": 1}, "column must be an integer in \\[0, 0\\]"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        plot.series_with_scores(**{"dataset": (VALUES, LABELS), "scores": SCORES, **arguments})
