"""Curves, surfaces and strips hold the numbers of the metrics that they show."""

import numpy as np
import pytest
from hypothesis import given
from matplotlib.colors import to_rgba

import tsadeval as te
from strategies import examples, scorings
from tsadeval import plot
from tsadeval.core.inputs import Scoring
from tsadeval.errors import InvalidInputError, InvalidParameterError
from tsadeval.plot.alarms import FALSE, FOUND, MISSED
from tsadeval.plot.series import _counts, surface_curve

pytestmark = pytest.mark.slow

RNG = np.random.default_rng(0)
N = 5000
Y = np.zeros(N, int)
Y[400:460] = Y[1800:1830] = Y[4500] = 1
SCORE = RNG.normal(size=N) + 2 * Y


@examples(100)
@given(scorings())
def test_counts_give_the_areas_of_the_metrics(data):
    y, s = data
    hits, false = _counts(Scoring.of(y, s))
    x, recall = false / false[-1], hits / hits[-1]
    assert np.sum(np.diff(x) * (recall[1:] + recall[:-1])) / 2 == pytest.approx(te.metrics.auc_roc(y, s))
    precision = hits[1:] / (hits + false)[1:]
    assert np.sum(np.diff(recall) * precision) == pytest.approx(te.metrics.auc_pr(y, s))


def test_long_curves_make_small_files(tmp_path):
    y = np.tile(Y, 60)
    ax = plot.roc_curve(y, np.random.default_rng(1).normal(size=len(y)) + y)
    assert len(ax.lines[0].get_xdata()) == len(y) + 1
    ax.figure.savefig(tmp_path / "roc.svg")
    assert (tmp_path / "roc.svg").stat().st_size < 150_000  # matplotlib leaves out what print cannot show


def test_legends_have_the_areas():
    scores = {"a": SCORE, "b": -SCORE}
    for draw, metric in ((plot.roc_curve, te.metrics.auc_roc), (plot.pr_curve, te.metrics.auc_pr)):
        texts = [text.get_text() for text in draw(Y, scores).get_legend().get_texts()]
        for text, name in zip(texts, scores, strict=True):
            assert text == f"{name} ({metric(Y, scores[name]):.3f})".replace("0.", ".")
        assert draw(Y, SCORE).get_legend() is None


def test_det_is_missed_against_false():
    from scipy.special import ndtr

    ax = plot.det_curve(Y, SCORE)
    x, y = ax.lines[0].get_data()
    hits, false = _counts(Scoring.of(Y, SCORE))
    points = set(zip(false / false[-1], 1 - hits / hits[-1], strict=True))
    near = np.array(sorted(points))
    for alarm, miss in zip(ndtr(x)[::50], ndtr(y)[::50], strict=True):
        assert np.abs(near - [alarm, miss]).sum(axis=1).min() < 1e-9


@examples(60)
@given(scorings(min_size=4))
def test_the_mean_area_under_the_surface_is_vus(data):
    y, s = data
    scoring, window = Scoring.of(y, s), 3
    roc, pr = [], []
    for width in range(2 * window + 1):
        false, recall, precision = surface_curve(scoring, width)
        x, r = np.append(false, 1.0), np.append(recall, 1.0)
        roc.append(np.sum(np.diff(x) * (r[1:] + r[:-1])) / 2)
        pr.append(np.sum(np.diff(recall) * precision[1:]))
    assert np.mean(roc) == pytest.approx(te.metrics.vus_roc(y, s, window=window), abs=1e-9)
    assert np.mean(pr) == pytest.approx(te.metrics.vus_pr(y, s, window=window), abs=1e-9)


def test_vus_surface_names_its_volume():
    ax = plot.vus_surface(Y, SCORE, kind="roc", window=30)
    assert ax.get_title(loc="left") == f"VUS-ROC {te.metrics.vus_roc(Y, SCORE, window=30):.3f}"
    with pytest.raises(InvalidParameterError, match="kind must be"):
        plot.vus_surface(Y, SCORE, kind="det")


def test_value_by_threshold_has_the_values_of_the_metrics():
    ax = plot.value_by_threshold(Y, SCORE, metrics=["f1", "recall"])
    f1, _, recall, _ = ax.lines
    for line, metric in ((f1, te.metrics.f1), (recall, te.metrics.recall)):
        for t, value in list(zip(*line.get_data(), strict=True))[::20]:
            assert value == pytest.approx(metric(Y, t < SCORE))  # above, as everywhere
    assert np.nanmax(f1.get_ydata()) == pytest.approx(te.best_threshold("f1", Y, SCORE).value, abs=0.02)
    with pytest.raises(InvalidParameterError, match="cce takes scores, so it has no threshold"):
        plot.value_by_threshold(Y, SCORE, metrics="cce")


def test_strips_hold_all_outcomes():
    y = np.array([0, 1, 1, 0, 0, 0, 1, 0] * 10)
    alarms = np.array([0, 1, 0, 0, 1, 0, 0, 0] * 10)
    ax = plot.outcome_strips(y, {"a": alarms})
    seen = {}
    for bars in ax.collections:
        for path in bars.get_paths():
            box = path.get_extents()
            seen.setdefault(tuple(bars.get_facecolor()[0]), []).append((box.x0 + 0.5, box.x1 + 0.5))
    for color, mask in ((FOUND, y & alarms), (FALSE, alarms & ~y & 1), (MISSED, y & ~alarms & 1)):
        covered = np.zeros(80, int)
        for start, stop in seen[to_rgba(color)]:
            covered[round(start) : round(stop)] = 1
        assert covered.tolist() == mask.tolist()


def test_keys_name_only_what_is_drawn():
    def keys(alarms):
        legend = plot.outcome_strips(np.array([0, 1, 1, 0]), {"a": np.array(alarms)}).get_legend()
        return [text.get_text() for text in legend.get_texts()] if legend else []

    assert keys([0, 1, 1, 0]) == ["found"]
    assert keys([1, 1, 0, 0]) == ["found", "false alarm", "missed"]
    assert keys([0, 0, 0, 0]) == ["missed"]


def test_metrics_over_thresholds_differ_in_colour_and_dashes():
    ax = plot.value_by_threshold(Y, SCORE, metrics=["f1", "f1_pa", "reduced_f1", "range_f1", "event_f1"])
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert [line.get_label() for line in lines] == ["F1", "F1-PA", "Reduced-F1", "R-based F1", "Event-F1"]
    red, green, blue = np.array([to_rgba(line.get_color())[:3] for line in lines]).T
    colors = np.column_stack([red, green, blue])
    apart = np.abs(colors[:, None] - colors).sum(axis=2) + 9 * np.eye(len(lines))
    assert apart.min() > 0.3
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in lines}) == len(lines)


def test_strips_take_scores_at_a_threshold():
    def found(ax):
        return [tuple(bars.get_facecolor()[0]) for bars in ax.collections]

    assert to_rgba(FALSE) not in found(plot.outcome_strips(Y, {"a": SCORE}, threshold="fixed(1e9)"))
    assert to_rgba(FALSE) in found(plot.outcome_strips(Y, {"a": SCORE}))
    plot.outcome_strips(np.zeros(10), {"a": np.arange(10.0)})


def test_worst_events_are_those_of_the_breakdown():
    ax = plot.worst_events(Y, SCORE, n=2, values=SCORE)
    worst = te.cce_breakdown(Y, SCORE).worst(2, label=1)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == [f"{e['start']}-{e['stop'] - 1}" if e["length"] > 1 else str(e["start"]) for e in worst]
    said = [text.get_text() for text in ax.texts]
    assert [text for text in said if text.startswith("lost")] == [f"lost {e['lost']:.3f}" for e in worst]
    around = [max(int(e["length"]), 20) for e in worst]
    edges = [(e["start"] - beside, e["stop"] + beside - 1) for e, beside in zip(worst, around, strict=True)]
    assert [text for text in said if text.isdigit()] == [str(point) for pair in edges for point in pair]
    scale = " ".join(ax.get_xlabel().split())
    assert f"blue: score, from {SCORE.min():.3g} to {SCORE.max():.3g}; grey: the series" in scale
    assert "grey" not in plot.worst_events(Y, SCORE, n=2).get_xlabel()
    assert len(plot.worst_events(Y, SCORE, n=20, label=None).get_yticklabels()) == 7
    row = plot.worst_events(Y, SCORE, n=1, margin=9).lines[0]
    assert row.get_xdata()[[0, -1]].tolist() == [0, 1]  # every row is as wide as the axes


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plot.roc_curve(np.zeros(N), SCORE), "y_true needs both"),
        (lambda: plot.roc_curve(Y, {"a": SCORE[1:]}), "detector 'a': y_true has 5000 points"),
        (lambda: plot.pr_curve(Y, {}), "scores is empty"),
        (lambda: plot.outcome_strips(Y, SCORE), "scores must be a mapping"),
        (lambda: plot.outcome_strips(Y, {}), "scores is empty"),
        (lambda: plot.outcome_strips(Y, {"a": SCORE[1:]}), "detector 'a'"),
        (lambda: plot.worst_events(Y, SCORE, label=2), "label must be one of 0, 1, None"),
        (lambda: plot.worst_events(Y, SCORE, values=SCORE[1:]), "values has shape"),
        (lambda: plot.worst_events(np.ones(N), SCORE), "y_true needs both"),
        (lambda: plot.worst_events(Y, SCORE, n=0), "n must be"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        call()


def test_trade_offs_and_curves_have_the_numbers_of_their_results():
    choice = te.choose_threshold(Y, SCORE, max_false_alarms=20)
    ax = plot.trade_off(choice)
    assert tuple(ax.figure.get_size_inches()) == (3.4, 2.5)
    x, y = ax.lines[0].get_data()
    assert set(zip(x[:-1], y[:-1], strict=True)) <= {(r["false_alarms"], r["value"]) for r in choice.rows} | {
        (r["false_alarms"], max(o["value"] for o in choice.rows if o["false_alarms"] <= r["false_alarms"]))
        for r in choice.rows
    }
    assert (list(ax.lines[1].get_xdata()), ax.lines[2].get_xydata().tolist()) == (
        [20, 20],
        [[choice.false_alarms, choice.value]],
    )
    cheap = plot.trade_off(te.choose_threshold(Y, SCORE, maximize="expected_cost(miss=5, false_alarm=1)"))
    assert np.all(np.diff(cheap.lines[0].get_ydata()) <= 0)  # lower is better
    found = te.curve("f1", Y, SCORE)
    ax = plot.curve(found)
    assert ax.lines[0].get_ydata().tolist() == [row["value"] for row in found.rows]
    assert ax.lines[1].get_ydata().tolist() == [te.best_threshold("f1", Y, SCORE).value]
    ax = plot.curve({"a": found, "b": te.curve("f1", Y, -SCORE)})
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert ax.lines[0].get_xdata()[-1] == 1
    for bad in ({}, {"a": 3}, 3, te.choose_threshold(Y, SCORE), {"a": found, "b": te.curve("recall", Y, SCORE)}):
        with pytest.raises(InvalidInputError, match="found must be"):
            plot.curve(bad)
    with pytest.raises(InvalidInputError, match="choice must be a result"):
        plot.trade_off(3)
    several = te.choose_threshold(te.Scores({"a": SCORE, "b": SCORE}, Y), max_false_alarms=20)
    with pytest.raises(InvalidInputError, match="for one detector and no per=, but is one of several"):
        plot.trade_off(several)
    nothing = te.choose_threshold([0, 1], [0.9, 0.1], max_false_alarms=0, maximize="precision")
    with pytest.raises(InvalidInputError, match="no threshold to draw"):
        plot.trade_off(nothing)


@pytest.mark.parametrize("draw", [plot.roc_curve, plot.pr_curve, plot.det_curve])
def test_names_are_no_formulas(draw, tmp_path):
    ax = draw(Y, {r"$\cost$": SCORE, "a$b$": -SCORE})
    ax.figure.savefig(tmp_path / "figure.png")
    assert any(r"\$\cost\$" in text.get_text() for text in ax.get_legend().get_texts())


@pytest.mark.parametrize("draw", [plot.value_by_threshold, plot.vus_surface])
def test_figures_of_one_detector_refuse_two(draw):
    with pytest.raises(InvalidInputError, match="this figure is of one detector, but there are 2"):
        draw(Y, {"a": SCORE, "b": -SCORE})


def test_points_without_a_score_are_left_out_as_compare_leaves_them_out():
    gaps = SCORE.copy()
    gaps[[100, 101, 430, 431, 432]] = np.nan
    known = ~np.isnan(gaps)
    values = te.compare({"a": gaps}, Y, metrics=["auc_roc", "auc_pr"]).table()["a"]
    for draw, metric in ((plot.roc_curve, "auc_roc"), (plot.pr_curve, "auc_pr")):
        ax = draw(Y, {"a": gaps})
        assert f"{values[metric]:.3f}".lstrip("0") in ax.get_legend().get_texts()[0].get_text()
        assert (ax.lines[0].get_xydata() == draw(Y[known], SCORE[known]).lines[0].get_xydata()).all()
    plot.det_curve(Y, gaps)
    ax = plot.value_by_threshold(Y, gaps, metrics="f1")
    assert np.nanmax(ax.lines[0].get_ydata()) == pytest.approx(te.evaluate(Y, gaps, "f1")["f1"], abs=0.02)
    assert np.nanmin(gaps) - 1 < min(ax.lines[0].get_xdata()) < np.nanmin(gaps)  # above it all points alarm
    ax = plot.value_by_threshold(Y, gaps, metrics="accuracy")
    assert ax.lines[0].get_ydata()[-1] == Y[known].mean()  # an alarm at all points that are judged
    strips = plot.outcome_strips(Y, {"a": np.where(Y == 1, np.nan, SCORE), "b": gaps}, threshold=10.0)
    assert len(strips.get_yticks()) == 3
    missed = [bar for bar in strips.collections if (bar.get_facecolor() == to_rgba(MISSED)).all()]
    assert len(missed) == 1  # of the first detector no anomaly is judged
    worst = plot.worst_events(Y, gaps, n=1, label=None, values=Y)
    assert len(worst.get_yticks()) == 1
    volume = te.evaluate(Y, gaps, ["vus_pr"])["vus_pr"]
    assert plot.vus_surface(Y, gaps).get_title("left") == f"VUS-PR {volume:.3f}"  # as te.compare has it


def test_scores_with_gaps_are_drawn_with_gaps():
    gaps = SCORE.copy()
    gaps[[100, 101, 430]] = np.nan
    ax = plot.series_with_scores((SCORE, Y), {"a": gaps}, metrics=["cce", "f1"])
    line = next(line for line in ax.lines if np.isnan(line.get_ydata()).any())
    assert np.flatnonzero(np.isnan(line.get_ydata())).tolist() == [100, 101, 430]
    shown = [text.get_text() for text in ax.texts]
    assert all(f"{value:.3f}" in shown for value in te.evaluate(Y, gaps, ["cce", "f1"]).values())
