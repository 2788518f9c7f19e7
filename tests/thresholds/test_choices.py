"""Thresholds of several detectors under a budget of false pages, on several series and on data held out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples
from tsadeval.errors import InvalidInputError, InvalidParameterError, ThresholdWarning, UnknownNameError
from tsadeval.thresholds.pages import judged, prices_of, steps_of


def naive_pages(y, alarms, stamps, cooldown):
    """False pages and events found: alarms with at most `cooldown` between end and start are one page."""
    pages, end = [], None
    for k in np.flatnonzero(alarms):
        if end is None or stamps[k] - end > cooldown:
            pages.append([])
        pages[-1].append(k)
        end = stamps[k] + 1
    events, k = [], 0
    while k < len(y):
        if y[k]:
            start = k
            while k < len(y) and y[k]:
                k += 1
            events.append(range(start, k))
        k += 1
    found = [[k for k in event if alarms[k]] for event in events]
    false = sum(not any(y[k] for k in page) for page in pages)
    return false, [own[0] - event[0] if own else None for own, event in zip(found, events, strict=True)]


def naive_choice(series, budget, cooldown, share, prices=None, *, lowest=False):
    """The best of all scores as thresholds `score >= v`: value, false pages, found, or no alarm."""
    normal = np.concatenate([s[y == 0] for y, s in series])
    best = None
    for v in [math.inf, *sorted({x for _, s in series for x in s.tolist()}, reverse=True)]:
        each = [naive_pages(y, s >= v, np.arange(len(y)), cooldown) for y, s in series]
        false = sum(one[0] for one in each)
        late = [d for one in each for d in one[1]]
        if false > budget or np.count_nonzero(normal >= v) > share * len(normal):
            break
        found = sum(d is not None for d in late)
        value = found if prices is None else -(prices[0] * (len(late) - found) + prices[1] * false)
        better = best is None or value > best[0] or (value == best[0] and false < best[1])
        if better or (lowest and value == best[0]):
            best = (value, false, found)
    return best


@examples(200)
@given(st.data(), st.sampled_from([0, 1, "60s", "150s", "1h"]), st.sampled_from([0, 1, "60s"]))
def test_steps_are_the_counts_at_every_threshold(data, cooldown, early):
    """With gaps in the times, points that are not judged, missing scores and early alarms."""
    n = data.draw(st.integers(2, 16))
    y, s = (np.array(data.draw(st.lists(st.integers(0, most), min_size=n, max_size=n))) for most in (1, 6))
    steps = data.draw(st.lists(st.sampled_from([60, 60, 60, 90, 5000]), min_size=n, max_size=n))
    ignore, lost = (np.array(data.draw(st.lists(st.sampled_from([0, 0, 0, 1]), min_size=n, max_size=n))) for _ in "ab")
    scores = np.where(lost, np.nan, s)
    if (lost | ignore).all():
        return
    missing = data.draw(st.sampled_from(["skip", "no alarm"]))
    found = list(te.Scores({"d": scores}, y, time=np.cumsum(steps), ignore=ignore, missing=missing))
    if not found:
        return
    (one,) = found
    prices = prices_of("expected_cost(delay_per_hour=1)")
    own = steps_of(one, 3, cooldown, early, prices)
    for v in [math.inf, *np.unique(s[~np.isnan(scores)]).tolist()]:
        judge = judged(one, one.scoring.at_least(v), cooldown, early)
        assert own.by[own.changes >= v].sum() == judge.false
        assert np.count_nonzero(own.maxima >= v) == sum(row["detected"] for row in judge.rows)
        if early == 0:
            late = math.fsum(row["delay"] or 0 for row in judge.rows) / 60
            assert own.hours[own.earlier >= v].sum() == pytest.approx(late)


@st.composite
def several(draw):
    """Up to three series with few distinct scores."""
    found = []
    for _ in range(draw(st.integers(1, 3))):
        n = draw(st.integers(1, 14))
        y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
        s = draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
        found.append((np.array(y), np.array(s, np.float32) / 10))
    return found


@examples(400)
@given(several(), st.integers(0, 3), st.integers(0, 4), st.sampled_from([0.3, 0.5, 1.0]), st.booleans(), st.booleans())
def test_choice_equals_trying_every_threshold(series, budget, cooldown, share, by_cost, lowest):
    scores = te.Scores([(f"s{k}", "d", y, s) for k, (y, s) in enumerate(series)])
    options = {"max_false_alarms": budget, "per": "all", "cooldown": cooldown, "max_time_in_alarm": share}
    prices = (3, 1) if by_cost else None
    options |= {"maximize": "expected_cost(miss=3, false_alarm=1)"} if by_cost else {}
    options["prefer"] = "lowest" if lowest else "highest"
    if not any(y.any() for y, _ in series):
        with pytest.raises(InvalidInputError, match="there is no event"):
            te.choose_threshold(scores, **options)
        return
    value, false, found = naive_choice(series, budget, cooldown, share, prices, lowest=lowest)
    choice = te.choose_threshold(scores, **options)
    (row,) = choice.rows
    if not found:
        assert row["threshold"] == math.inf
        assert "no threshold that finds an event keeps the budget" in repr(choice)
        false = 0
    assert (row["detected"], row["false_alarms"]) == (found, false)
    judged = [naive_pages(y, s > row["threshold"], np.arange(len(y)), cooldown) for y, s in series]
    assert row["false_alarms"] == sum(one[0] for one in judged)
    late = [d for one in judged for d in one[1]]
    assert [one["delay"] for one in choice.outcomes.rows] == late
    if by_cost and found:
        assert row["cost"] == -value


def fleet(n_series=3, days=40, seed=0, n=5):
    """(series, detector, labels, scores) with one detector better than the other, and time stamps by series."""
    rng = np.random.default_rng(seed)
    times = np.arange(days * 288) * 300
    found = []
    for name in "abcdefgh"[:n_series]:
        y = np.zeros(len(times), int)
        for start in rng.choice(np.arange(20, len(times) - 20, 40), n, replace=False):
            y[start : start + 12] = 1
        found += [(name, who, y, rng.standard_t(4, len(times)) + y * up) for who, up in (("poor", 3.5), ("good", 5))]
    return te.Scores(found, time=dict.fromkeys("abcdefgh"[:n_series], times))


def test_best_detector_first_and_judged_on_what_was_held_out():
    scores = fleet()
    choice = te.choose_threshold(scores, max_false_alarms="1/week", cooldown="30min", split=0.5)
    assert choice.detector == "good" == choice.rows[0]["detector"]
    assert [row["part"] for row in choice.rows] == ["chosen on", "chosen on", "held out", "held out"]
    assert choice.thresholds == {row["detector"]: row["threshold"] for row in choice.rows[:2]}
    early, late = scores.split(share=0.5)
    for part, rows in ((early, choice.rows[:2]), (late, choice.rows[2:])):
        for row in rows:
            one = part.select(detectors=[row["detector"]])
            each = [(s.given.y_true, s.given.y_score > row["threshold"], np.arange(s.scoring.n)) for s in one]
            found = [naive_pages(*arrays, cooldown=6) for arrays in each]
            late_by = [5 * d for _, delays in found for d in delays if d is not None]
            assert (row["false_alarms"], row["detected"]) == (sum(false for false, _ in found), len(late_by))
            assert row["median"] == (np.median(late_by) if late_by else pytest.approx(math.nan, nan_ok=True))
            weeks = sum(np.count_nonzero(s.given.y_true == 0) * 300 / 604800 for s in one)
            assert row["rate"] == pytest.approx(row["false_alarms"] / weeks)
            if row["part"] == "chosen on":
                assert row["rate"] <= 1
    again = te.choose_threshold(early, max_false_alarms="1/week", cooldown="30min", test=late)
    assert again.to_json() == choice.to_json()
    held = choice.rows[2]
    assert choice.sentence.startswith(
        f"good at {held['threshold']:g}: {held['detected']} of {held['events']} events, {held['rate']:.2g} false pages "
        f"a week and series, median delay {held['median']:.4g} min, on data that it was not chosen on"
    )
    assert "on the part that was held out" in repr(choice)


def test_delays_are_said_as_people_say_them():
    y, s = np.zeros(200, int), np.zeros(200)
    y[50:150], s[137] = 1, 1  # found 87 points of 10 min after its beginning
    choice = te.choose_threshold(te.Scores(s, y, time=np.arange(200) * 600), max_false_alarms=0, per="series")
    assert choice.sentence.endswith("1 of 1 events, 0 false alarms a week and series, median delay 14 h 30 min")
    with pytest.raises(InvalidInputError, match="by_kind is of several detectors, or of a choice with per="):
        te.choose_threshold(y, s, max_false_alarms=0).by_kind()


def test_without_cooldown_it_is_the_choice_of_one_detector():
    scores = fleet(seed=3).select(detectors=["good"])
    alone = te.choose_threshold(scores, max_false_alarms="1/week")
    table = te.choose_threshold(scores, max_false_alarms="1/week", per="series")
    assert (alone.threshold, alone.detected, alone.false_alarms) == (
        table.threshold,
        table.detected,
        table.false_alarms,
    )
    assert alone.budget == pytest.approx(table.budget)


def test_budget_for_all_series_together_is_smaller():
    scores = fleet(seed=1)
    each, together = (
        te.choose_threshold(scores, max_false_alarms="1/week", per=per, cooldown="30min") for per in ("series", "all")
    )
    assert each.budget == pytest.approx(3 * together.budget, rel=0.02)  # all were observed at the same time
    assert together.rows[0]["rate"] <= 1
    assert (
        together.rows[0]["false_alarms"] < each.rows[0]["false_alarms"]
        or each.rows[0]["false_alarms"] <= together.budget
    )
    assert "false pages a week," in together.sentence


def test_split_by_moment_and_by_series():
    scores = fleet()
    for split, n in ((20 * 86400, 3), (["a", "b"], 2)):
        choice = te.choose_threshold(scores, max_false_alarms="1/week", split=split)
        assert choice.rows[0]["series"] == n
        assert {row["part"] for row in choice.rows} == {"chosen on", "held out"}


def test_a_detector_that_no_threshold_suits_has_a_row_with_the_reason():
    y = [0, 1, 0, 0, 0, 1, 0, 0]
    scores = te.Scores({"good": y, "bad": [0.9, 0.1, 0.8, 0.2, 0.7, 0.1, 0.6, 0.2]}, y)
    choice = te.choose_threshold(scores, max_false_alarms=0, per="series")
    bad = choice.rows[1]
    assert (bad["detector"], bad["threshold"], bad["detected"], bad["status"]) == ("bad", math.inf, 0, "undefined")
    assert "bad: no threshold that finds an event keeps the budget, so no alarm" in repr(choice)
    with pytest.warns(ThresholdWarning, match="no alarm"):
        compared = te.compare(scores, metrics="event_recall", thresholds=choice.thresholds)
    assert compared.table()["bad"]["event_recall"] == 0
    assert compared.table()["good"]["event_recall"] == 1
    assert [row["threshold"] for row in compared.rows if row["detector"] == "good"] == [choice.threshold]
    assert compared.average("micro")["good"]["event_recall"] == 1
    with pytest.raises(InvalidInputError, match="thresholds has none of bad"):
        te.compare(scores, thresholds={"good": 0.5})
    with pytest.raises(UnknownNameError, match="did you mean good"):
        te.compare(scores, thresholds={"god": 0.5, "bad": 1})
    alone = te.choose_threshold(scores.select(detectors=["bad"]), max_false_alarms=0, per="series")
    assert alone.sentence == "no threshold that finds an event keeps the budget: 0 for each series"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maximize": "f1"}, "of several detectors, maximize event_recall or expected_cost"),
        ({"cost": "f1"}, "cost must be expected_cost with its prices"),
        ({"split": 0.5, "test": 1}, "give one of them"),
        ({"per": "week"}, "per must be one of 'series', 'all'"),
        ({"cooldown": -1}, "cooldown must be"),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(InvalidParameterError, match=message):
        te.choose_threshold(fleet(1), max_false_alarms="1/week", **options)


def test_spans_of_time_need_time_stamps():
    scores = te.Scores({"a": [0.1, 0.9], "b": [0.9, 0.1]}, [0, 1])
    for options in ({"cooldown": "30min"}, {"cost": "expected_cost(delay_per_hour=1)"}):
        with pytest.raises(InvalidInputError, match="need time stamps: give them with time="):
            te.choose_threshold(scores, max_false_alarms=1, **options)
    with pytest.raises(InvalidInputError, match=r"are for te\.Scores"):
        te.choose_threshold([0, 1], [0.1, 0.9], max_false_alarms=1, cooldown=3)


def test_detectors_on_fewer_series_are_named():
    y = [0, 1, 0]
    scores = te.Scores({"whole": {"a": y, "b": y}, "half": {"a": y}}, {"a": y, "b": y})
    choice = te.choose_threshold(scores, max_false_alarms=0)
    assert [row["detector"] for row in choice.rows] == ["whole", "half"]  # the one that finds more
    assert "on fewer series than the others: half (1 of 2)" in repr(choice)
