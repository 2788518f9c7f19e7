"""The figures of comparisons: what they draw, and that it fits on small axes."""

import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import tsadeval as te
from tsadeval import plot
from tsadeval.comparison import statistics
from tsadeval.core.metric import Metric
from tsadeval.errors import InvalidInputError, InvalidParameterError, UnknownNameError

pytestmark = pytest.mark.slow

NAMES = ["LOF", "isolation forest", "a detector with a long name", "d", "e", "f"]
VALUES = np.random.default_rng(1).normal(size=(20, 6)) + np.array([0.0, 0.2, 0.4, 1.5, 1.6, 3.0])
TABLE = pd.DataFrame(VALUES, columns=NAMES, index=[f"s{i}" for i in range(20)])


@pytest.fixture(scope="module")
def comparison():
    rng = np.random.default_rng(0)
    y = np.zeros(300, int)
    y[50:70] = y[200:205] = 1
    runs = [(f"s{i}", name, y, rng.normal(size=300) + k * y / 2) for i in range(8) for k, name in enumerate(NAMES)]
    return te.compare(runs, metrics=["cce", "auc_roc", "f1", "f1_pa"])


def words(ax):
    return [text.get_text() for text in ax.texts]


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_critical_difference_shows_ranks_and_groups():
    ax = plot.critical_difference(TABLE)
    mean = statistics.mean_ranks(VALUES).mean
    same = statistics.wilcoxon_holm(VALUES).same()
    for name, rank in zip(["LOF", "d", "e", "f"], mean[[0, 3, 4, 5]], strict=True):
        assert f"{name}  {rank:.2f}" in words(ax)
    groups = statistics.tie_groups(mean, same)
    assert groups
    bars = [line for line in ax.lines if line.get_linewidth() > 2]
    scale = next(line for line in ax.lines if len(line.get_xdata()) == 2 and len(set(line.get_ydata())) == 1)
    low, high = scale.get_xdata()

    def rank(x):
        return 1 + 5 * (x - low) / (high - low)

    for bar, group in zip(bars, groups, strict=True):
        left, right = sorted(bar.get_xdata())
        assert rank(left + 2) == pytest.approx(mean[group].min())
        assert rank(right - 2) == pytest.approx(mean[group].max())
    assert "value on 20 series" in words(ax)


@pytest.mark.parametrize(("test", "needed"), [("wilcoxon-holm", 10), ("nemenyi", 3)])
def test_too_few_series_are_said(test, needed):
    few = f"too few series: none differ significantly on fewer than {needed}"
    assert few in words(plot.critical_difference(TABLE.iloc[: needed - 1], test=test))
    assert few not in words(plot.critical_difference(TABLE.iloc[:needed], test=test))


def test_nemenyi_needs_three_and_shows_its_difference():
    ax = plot.critical_difference(TABLE, test="nemenyi")
    assert f"critical difference {statistics.critical_difference(6, 20):.2f}" in words(ax)
    with pytest.raises(InvalidInputError, match="needs several detectors, but there is only 2"):
        plot.critical_difference(TABLE.iloc[:, :2], test="nemenyi")
    plot.critical_difference(TABLE.iloc[:, :2])


def test_smaller_is_better_where_the_metric_says_so():
    given = {"quick": [1.0, 2.0, 1.0], "slow": [5.0, 9.0, 8.0]}
    assert rows(plot.rank_distributions(given, metric="detection_delay")) == ["quick", "slow"]
    assert rows(plot.rank_distributions(given, metric="f1")) == ["slow", "quick"]
    assert rows(plot.values_by_series(given, metric="detection_delay")) == ["quick", "slow"]


def test_smaller_is_better_where_a_metric_of_ones_own_says_so():
    costs = Metric.from_function(lambda y_true, y_score: float(y_score[0]), "costs", "lower")
    found = te.compare({"dear": [0.9, 0.1], "cheap": [0.2, 0.8]}, [0, 1], [costs])
    assert rows(plot.rank_distributions(found)) == ["cheap", "dear"]


def test_a_detector_without_any_value_is_last():
    given = {"none": [math.nan, math.nan], "slow": [5.0, 9.0], "quick": [1.0, 2.0]}
    assert rows(plot.values_by_series(given, metric="detection_delay")) == ["quick", "slow", "none"]


def test_one_detector_is_enough_to_show_its_values():
    ax = plot.values_by_series({"only": [0.9, 0.8]})
    assert rows(ax) == ["only"]
    assert np.asarray(ax.images[0].get_array()).tolist() == [[0.9, 0.8]]


def test_missing_values():
    gaps = TABLE.copy()
    gaps.iloc[:3, 0] = math.nan
    assert "value on 17 of 20 series" in words(plot.critical_difference(gaps))
    assert "rank by value on 17 of 20 series" in plot.rank_distributions(gaps).get_xlabel()
    assert plot.values_by_series(gaps).get_xlabel() == "20 series; dot: first; cross: no value"
    assert "value on 20 series" in words(plot.critical_difference(gaps, missing="worst"))
    with pytest.raises(InvalidInputError, match="3 values are missing"):
        plot.rank_distributions(gaps, missing="error")
    ax = plot.values_by_series(gaps)
    crosses = next(line for line in ax.lines if line.get_marker() == "x")
    assert len(crosses.get_xdata()) == 3
    left_out = gaps.assign(**{gaps.columns[0]: math.nan})
    for ax in (plot.critical_difference(left_out), plot.rank_distributions(left_out)):
        assert f"without any value: {gaps.columns[0]}" in "".join([*words(ax), ax.get_xlabel()])
    gaps.iloc[:10, 0] = gaps.iloc[10:, 1] = math.nan
    with pytest.raises(InvalidInputError, match="no series has values of all detectors"):
        plot.critical_difference(gaps)
    with pytest.raises(InvalidInputError, match="no finite value"):
        plot.values_by_series(left_out.iloc[:, :1])


def test_rank_distributions_count_ranks():
    ax = plot.rank_distributions({"a": [3.0, 3.0, 1.0], "b": [2.0, 2.0, 2.0], "c": [1.0, 2.0, 3.0]})
    a = next(c for c in ax.collections if c.get_offsets()[0][1] == rows(ax).index("a"))
    assert a.get_offsets()[:, 0].tolist() == [1.0, 3.0]
    assert a.get_sizes()[0] == pytest.approx(2 * a.get_sizes()[1])


def test_agreement_is_that_of_mean_ranks(comparison):
    ax = plot.metric_agreement(comparison)
    assert rows(ax) == ["CCE", "AUC-ROC", "F1", "F1-PA"]
    image = ax.images[0].get_array()
    frame = comparison.to_frame()

    def means(metric):
        table = frame[frame["metric"] == metric].pivot(index="series", columns="detector", values="value")[NAMES]
        return statistics.mean_ranks(table).mean

    expected = statistics.agreement([means(metric) for metric in ("cce", "auc_roc", "f1", "f1_pa")])
    assert np.asarray(image) == pytest.approx(expected)
    with pytest.raises(InvalidParameterError, match="at least 2 metrics"):
        plot.metric_agreement(comparison, metrics=["cce"])
    with pytest.raises(InvalidInputError, match="agreement needs values of several metrics"):
        plot.metric_agreement(TABLE)


def test_values_by_series_marks_the_best(comparison):
    ax = plot.values_by_series(comparison, metric="auc_roc")
    best = next(line for line in ax.lines if line.get_marker() == "o")
    image = np.asarray(ax.images[0].get_array())
    assert image.shape == (6, 8)
    for x, y in zip(best.get_xdata(), best.get_ydata(), strict=True):
        assert image[y, x] == image[:, x].max()
    assert {int(x) for x in best.get_xdata()} == set(range(8))


def test_many_series_stand_by_data_set_the_best_first():
    values = np.random.default_rng(0).random((220, 3))
    values[7] = np.nan
    sets = [("ucr", "nab", "smd")[i % 3] for i in range(220)]
    table = pd.DataFrame(values, columns=["a", "b", "c"], index=[f"{name}/{i}" for i, name in enumerate(sets)])
    ax = plot.values_by_series(table, metric="auc_roc")
    assert [label.get_text() for label in ax.get_xticklabels()] == ["ucr", "nab", "smd"]
    drawn = np.ma.filled(ax.images[0].get_array(), np.nan)
    borders = [line.get_xdata()[0] for line in ax.lines if line.get_color() == "white"]
    assert borders == [73.5, 146.5]
    for first, last in ((0, 73), (74, 146), (147, 219)):
        means = drawn[:, first : last + 1].mean(axis=0)
        assert (np.diff(means[np.isfinite(means)]) <= 1e-12).all()
    assert np.isnan(drawn[:, 146]).all()  # the one without values is the last of its data set
    assert ax.get_xlabel() == "220 series; cross: no value"  # dots would be too small to be seen
    few = plot.values_by_series(table.iloc[:6], metric="auc_roc")
    names = [label.get_text() for label in few.get_xticklabels()]
    assert names == ["ucr/0", "ucr/3", "nab/1", "nab/4", "smd/2", "smd/5"]


def test_a_diagram_needs_something_to_test():
    with pytest.raises(InvalidInputError, match="one series only: there is nothing to test"):
        plot.critical_difference({"a": [0.1], "b": [0.2]})


def test_names_are_not_broken_at_their_hyphens():
    ax = Figure(figsize=(2.4, 2), layout="constrained").add_subplot()
    plot.rank_distributions({"a": [1.0, 2.0], "b": [2.0, 1.0]}, ax, metric="vus_roc")
    assert "VUS-ROC" in ax.get_xlabel()


def test_what_was_given_is_said(comparison):
    with pytest.raises(UnknownNameError, match="no metric 'vus_pr' in this comparison"):
        plot.critical_difference(comparison, metric="vus_pr")
    with pytest.raises(UnknownNameError, match="unknown metric 'f7'"):
        plot.values_by_series(TABLE, metric="f7")
    with pytest.raises(InvalidInputError, match="not a list"):
        plot.values_by_series([1, 2])
    with pytest.raises(InvalidInputError, match="one value for each of the same series"):
        plot.values_by_series({"a": [1.0], "b": [1.0, 2.0]})
    with pytest.raises(InvalidInputError, match="no values of several detectors"):
        plot.critical_difference(te.evaluate([0, 1], [0, 1], "auc_roc"))
    with pytest.raises(InvalidParameterError, match="test must be"):
        plot.critical_difference(TABLE, test="t")


def outside(ax):
    """Texts and axes that reach beyond the figure."""
    figure = ax.figure
    figure.draw_without_rendering()
    box = figure.bbox
    parts = figure.axes
    found = []
    for part in parts:
        shown = [*part.texts, part.title, part._left_title, part.xaxis.label, part.yaxis.label]
        shown += part.get_legend().get_texts() if part.get_legend() else []
        if part.axison:
            for axis, limits in ((part.xaxis, part.get_xlim()), (part.yaxis, part.get_ylim())):
                ticks = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
                shown += [label for at, label in ticks if min(limits) <= at <= max(limits)]
        for text in shown:
            if text.get_visible() and text.get_text():
                extent = text.get_window_extent()
                if extent.x0 < -1 or extent.y0 < -1 or extent.x1 > box.x1 + 1 or extent.y1 > box.y1 + 1:
                    found.append(text.get_text())
    return found


Y = np.zeros(400, int)
Y[100:130] = Y[300:303] = 1
SCORES = {name: np.random.default_rng(i).normal(size=400) + (1 + i / 3) * Y for i, name in enumerate(NAMES)}

FIGURES = {
    "critical_difference": lambda ax, c: plot.critical_difference(c, ax),
    "rank_distributions": lambda ax, c: plot.rank_distributions(c, ax),
    "metric_agreement": lambda ax, c: plot.metric_agreement(c, ax),
    "values_by_series": lambda ax, c: plot.values_by_series(c, ax),
    "roc_curve": lambda ax, c: plot.roc_curve(Y, SCORES, ax),
    "pr_curve": lambda ax, c: plot.pr_curve(Y, SCORES, ax),
    "det_curve": lambda ax, c: plot.det_curve(Y, SCORES, ax),
    "value_by_threshold": lambda ax, c: plot.value_by_threshold(Y, SCORES["LOF"], ax),
    "vus_surface": lambda ax, c: plot.vus_surface(Y, SCORES["LOF"], ax, window=20),
    "outcome_strips": lambda ax, c: plot.outcome_strips(Y, SCORES, ax),
    "worst_events": lambda ax, c: plot.worst_events(Y, SCORES["LOF"], ax),
    "series_with_scores": lambda ax, c: plot.series_with_scores((SCORES["d"], Y), SCORES, ax),
    "curve": lambda ax, c: plot.curve({name: te.curve("f1", Y, s) for name, s in SCORES.items()}, ax),
    "trade_off": lambda ax, c: plot.trade_off(te.choose_threshold(Y, SCORES["d"], max_false_alarms=5), ax),
    "five_models": lambda ax, c: plot.five_models(ax),
}


@pytest.mark.parametrize("layout", [None, "constrained"])
@pytest.mark.parametrize("name", FIGURES)
def test_figures_fit_on_small_axes(name, layout, comparison):
    mine = Figure(figsize=(3.4, 2.5), layout=layout).add_subplot()
    assert FIGURES[name](mine, comparison) is mine
    assert outside(mine) == []
    if mine.axison:
        inches = mine.get_window_extent().width / mine.figure.dpi
        assert inches > 0.8, "hardly any room is left for the figure itself"


@pytest.mark.parametrize("name", ["roc_curve", "pr_curve", "det_curve", "value_by_threshold", "curve"])
def test_legends_cover_nothing(name, comparison):
    for mine in (Figure(figsize=(3.4, 2.5)).add_subplot(), None):
        ax = FIGURES[name](mine, comparison)
        ax.figure.draw_without_rendering()
        legend = ax.get_legend().get_window_extent()
        assert legend.y0 >= ax.get_window_extent().y1
        title = ax._left_title
        assert not title.get_text() or title.get_window_extent().y0 >= legend.y1


@pytest.mark.parametrize("name", FIGURES)
def test_own_figures_fit_and_show_in_notebooks(name, comparison):
    ax = FIGURES[name](None, comparison)
    assert outside(ax) == []
    assert ax._repr_png_().startswith(b"\x89PNG")


def test_the_key_of_colours_covers_nothing():
    mine = Figure(figsize=(3.4, 2.5)).add_subplot()
    ax = plot.series_with_scores((SCORES["d"], Y), {"LOF": SCORES["LOF"]}, mine)
    mine.figure.draw_without_rendering()
    (bar,) = (one for one in mine.figure.axes if one is not ax)
    top = bar.get_window_extent().y1
    assert top < ax.xaxis.label.get_window_extent().y0
    assert all(top < label.get_window_extent().y0 for label in ax.get_xticklabels())


def test_axes_without_room_for_their_names_are_left_as_they_are():
    """Shrunk further they would have no width, or less than none; matplotlib says what to do."""
    mine = Figure(figsize=(0.5, 0.5)).add_subplot()
    before = mine.get_position().bounds
    with pytest.warns(UserWarning, match="Try making figure larger"):
        plot.roc_curve(Y, SCORES, mine)
    assert mine.get_position().bounds == before
