"""`StreamingEvaluator` without labels: incidents that come later, pages, rules that look back, the state as JSON."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tsadeval as te
from strategies import examples
from tsadeval.errors import InvalidInputError, InvalidParameterError

METRICS = ["precision", "recall", "f1", "f1_pa", "event_recall", "event_precision", "false_alarms", "time_in_alarm"]
IN_TIME = ["detection_delay(unit='min')", "false_alarms(per='day')"]
RULES = [2.0, "sustained(2, 3)", "hysteresis(2, 1)", "sustained(hysteresis(3, 1), 2)", "hysteresis(sustained(2, 2), 0)"]


def naive_pages(alarms, begins, ends, cooldown):
    """Join alarms one after the other; a gap in the data is quiet as well."""
    pages = []
    for i in np.flatnonzero(alarms):
        before = pages[-1][1] if pages else None
        if pages and ((i == before + 1 and begins[i] == ends[before]) or begins[i] - ends[before] <= cooldown):
            pages[-1][1] = i
        else:
            pages.append([i, i])
    return pages


@pytest.mark.filterwarnings(
    "ignore::tsadeval.errors.UndefinedMetricWarning", "ignore::tsadeval.errors.ThresholdWarning"
)
@examples(60)
@given(st.data(), st.sampled_from(RULES), st.sampled_from([0, 120, 600]), st.sampled_from([None, "8min"]))
def test_incidents_later_give_what_labels_at_once_give(data, rule, cooldown, window):
    n = data.draw(st.integers(2, 40))
    scores = np.array(data.draw(st.lists(st.integers(-1, 5), min_size=n, max_size=n)), float)
    steps = data.draw(st.lists(st.sampled_from([1, 1, 1, 2, 90]), min_size=n, max_size=n))
    times = (np.cumsum(steps) * 60).astype("datetime64[s]")
    y = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), int)
    incidents = te.intervals(y, times)
    stream = te.StreamingEvaluator(rule, window=window, cooldown=f"{cooldown}s" if cooldown else 0)
    cuts = sorted(data.draw(st.sets(st.integers(1, n - 1))))
    for a, b in zip([0, *cuts], [*cuts, n], strict=True):
        if data.draw(st.booleans()):
            stream = te.StreamingEvaluator.from_state(json.loads(json.dumps(stream.to_state())))
        stream.update(None, scores[a:b], times[a:b])
    found = stream.compute(incidents)
    batch = te.evaluate(y, scores, [*METRICS, *IN_TIME], threshold=rule, times=times)
    assert [found[name] for name in [*METRICS, *IN_TIME]] == pytest.approx(list(batch.values()), nan_ok=True)
    table = te.events(y, scores, threshold=rule, times=times)
    assert found["false_alarm_runs"] == table.summary["false_alarms"]
    assert [row["delay"] for row in stream.events(incidents).rows] == [row["delay"] for row in table.rows]
    alarms = _alarms(scores, rule)
    clock = te.times(times)
    begins, ends = (clock.stamps, clock.ends) if cooldown else (np.arange(n), np.arange(n) + 1)  # 0 is in points
    pages = naive_pages(alarms, begins, ends, cooldown * 10**9)
    false = [not (y & alarms)[a : b + 1].any() for a, b in pages]
    assert (found["pages"], found["false_pages"]) == (len(pages), sum(false))
    found_false = stream.events(incidents).false_alarms
    assert [row["start"] for row in found_false] == [
        times[a] for (a, _), wrong in zip(pages, false, strict=True) if wrong
    ]
    if window is not None:
        keep = times > times[-1] - np.timedelta64(8, "m")
        last = te.evaluate(
            y[keep], _alarms(scores, rule)[keep].astype(float), METRICS, threshold=0.5, times=times[keep]
        )
        recent = {row["metric"]: row["recent"] for row in found.rows}
        assert [recent[name] for name in METRICS] == pytest.approx(list(last.values()), nan_ok=True)


def _alarms(scores, rule):
    """Return the alarms of a rule on all scores at once."""
    from tsadeval.core.inputs import Scoring
    from tsadeval.core.metric import METRICS as ALL
    from tsadeval.thresholds.rules import parse_rule

    whole = Scoring.of(np.zeros(len(scores), int), scores)
    return parse_rule(rule).decide(whole, ALL["f1"]).prediction.alarms.mask


def test_incidents_may_change_and_nothing_is_kept_of_them():
    stream = te.StreamingEvaluator(0.5, window="1h").update(None, [0, 1, 0, 0, 1, 0], times=np.arange(6) * 60)
    stream = te.StreamingEvaluator.from_state(stream.to_state())
    assert stream.compute()["false_pages"] == 2
    assert stream.compute([(60, 120)])["event_recall"] == 1
    found = stream.compute([(240, 300), (120, 180)])
    assert [row["start"] for row in stream.events([(240, 300)]).false_alarms] == [60]
    assert (found["events"], found["detected"], found["false_pages"]) == (2, 1, 1)
    assert "labels are those of the incidents" in repr(found)
    assert (stream.times.at(5), len(stream.times)) == (300, 6)


def test_the_state_is_small_and_keeps_the_zone():
    import pandas as pd

    index = pd.date_range("2026-10-25", periods=100_000, freq="min", tz="Europe/Berlin")
    scores = np.random.default_rng(0).normal(size=len(index))
    stream = te.StreamingEvaluator(4.5, window="1h").update(None, scores, index)
    text = json.dumps(stream.to_state())
    assert len(text) < 4000
    again = te.StreamingEvaluator.from_state(json.loads(text))
    assert again.compute().rows == stream.compute().rows
    assert str(again.times.moment(int(again.times.stamps[-1]))) == str(index[-1])


def test_what_does_not_fit_is_refused():
    stream = te.StreamingEvaluator("sustained(2, 2)")
    with pytest.raises(InvalidInputError, match="need times"):
        stream.update(None, [0, 1])
    with pytest.raises(InvalidInputError, match="pass None for them, and the incidents"):
        te.StreamingEvaluator("sustained(2, 2)").update([0, 1], [0, 1], [0, 1])
    for rule in ("best", "quantile(0.9)", "sustained(quantile(0.9), 2)"):
        with pytest.raises(InvalidParameterError, match="threshold must be a number in a stream"):
            te.StreamingEvaluator(rule)
    with pytest.raises(InvalidParameterError, match="false_warnings"):
        te.StreamingEvaluator(2, false_warnings="seldom")
    one = te.StreamingEvaluator(2).update(None, [0, 1], [0, 1])
    with pytest.raises(InvalidInputError, match="for all chunks, or for none"):
        one.update([0, 1], [0, 1], [2, 3])
    with pytest.raises(InvalidInputError, match="begins before the end"):
        one.update(None, [0, 1], [1, 2])
    with pytest.raises(InvalidInputError, match="those of the chunks before are numbers"):
        one.update(None, [0], np.array(["2026-01-01"], "datetime64[D]"))
    with pytest.raises(InvalidInputError, match="cannot be merged"):
        one.merge(te.StreamingEvaluator(2))
    labelled = te.StreamingEvaluator(2).update([0, 1], [0, 1])
    for call in (labelled.to_state, labelled.events):
        with pytest.raises(InvalidInputError, match="no points without labels"):
            call()
    with pytest.raises(InvalidInputError, match="but these have some"):
        labelled.compute([(0, 1)])
    with pytest.raises(InvalidInputError, match="version 2"):
        te.StreamingEvaluator.from_state({"version": 2})
    assert one.compute()["points"] == 2  # nothing was added by what was refused
