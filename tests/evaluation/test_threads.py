"""Many series in threads: the same rows, order, warnings and errors as one by one."""

import threading
import warnings

import numpy as np
import pytest

import tsadeval as te
from tsadeval.core.parallel import in_order
from tsadeval.errors import InvalidInputError, InvalidParameterError, ThresholdWarning, UndefinedMetricWarning


def series(count=7, n=400):
    rng = np.random.default_rng(0)
    found = []
    for i in range(count):
        y = np.repeat(rng.random(n // 10) < 0.1, 10)
        y[0], y[-1] = True, False
        found.append((f"s{i}", y, rng.random(n) + 0.4 * y))
    return found


def rows(result):
    return [{key: value for key, value in row.items() if key != "seconds"} for row in result.rows]


@pytest.mark.parametrize("threshold", ["best", 0.7])
@pytest.mark.filterwarnings("ignore::tsadeval.errors.UndefinedMetricWarning")
def test_the_same_rows_in_the_same_order(threshold):
    one = te.evaluate_many(series(), "all", threshold=threshold, n_jobs=1)
    many = te.evaluate_many(iter(series()), "all", threshold=threshold, n_jobs=4)
    np.testing.assert_equal(rows(many), rows(one))
    np.testing.assert_equal(many.micro, one.micro)
    scores = [(name, detector, y, s + k) for name, y, s in series() for k, detector in enumerate("ab")]
    metrics = ["cce", "f1", "vus_pr"]
    np.testing.assert_equal(
        rows(te.compare(scores, metrics=metrics, n_jobs=3)), rows(te.compare(scores, metrics=metrics, n_jobs=1))
    )


def test_warnings_reach_the_caller():
    data = [("empty", [0] * 50, np.arange(50.0)), *series(2)]
    with pytest.warns(UndefinedMetricWarning, match="cce is undefined on empty, so NaN") as caught:
        te.evaluate_many(data, "cce", n_jobs=3)
    assert caught[0].filename == __file__
    with pytest.warns(ThresholdWarning, match="no alarm on s0, so"):
        te.evaluate_many(series(1), "f1", threshold=9.0, n_jobs=3)

    def noisy(y_true, y_score):
        warnings.warn("mine", stacklevel=1)
        return 0.5

    with pytest.raises(InvalidInputError, match="UserWarning: mine"):  # warnings are errors in these tests
        te.evaluate_many(series(2), noisy, n_jobs=2)


def test_the_first_error_in_order_is_raised():
    data = series(9)
    data[3] = ("bad", [0, 2], [0.1, 0.2])
    data[5] = ("worse", [0, 1], [0.1, np.nan])
    with pytest.raises(InvalidInputError, match="series 'bad'"):
        te.evaluate_many(data, "cce", n_jobs=4, strict=True)
    with pytest.raises(InvalidParameterError, match="n_jobs must be an integer other than 0"):
        te.evaluate_many(data, "cce", n_jobs=0)
    with pytest.warns(te.errors.InputWarning, match="left out: series 'bad': y_true must be 0"):
        found = te.evaluate_many(data[:4], "cce", n_jobs=4)
    assert len(found.rows) == 3
    assert "left out: series 'bad'" in repr(found)


def test_functions_of_users_stay_in_the_thread_of_the_caller_unless_asked(monkeypatch):
    monkeypatch.setattr("tsadeval.core.parallel.cores", lambda: 4)
    seen = set()

    def mine(y_true, y_score):
        seen.add(threading.current_thread())
        return 0.5

    long = [(name, np.tile(y, 30), np.tile(s, 30)) for name, y, s in series(3)]
    te.evaluate_many(long, mine)
    assert seen == {threading.current_thread()}
    te.evaluate_many(long, mine, n_jobs=2)
    assert len(seen) > 1


def test_long_series_use_threads_by_default(monkeypatch):
    monkeypatch.setattr("tsadeval.core.parallel.cores", lambda: 4)
    names = []
    run = te.core.metric.Metric.run

    def noting(self, *args, **kwargs):
        names.append(threading.current_thread().name)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(te.core.metric.Metric, "run", noting)
    te.evaluate_many(series(3), "cce")
    assert not any(name.startswith("tsadeval") for name in names)
    te.evaluate_many([(name, np.tile(y, 30), np.tile(s, 30)) for name, y, s in series(3)], "cce")
    assert sum(name.startswith("tsadeval") for name in names) == 3


def test_items_are_read_a_little_ahead_only():
    read = []

    def items():
        for i in range(100):
            read.append(i)
            yield i

    found = in_order(lambda i: i * i, items(), 2)
    assert [next(found) for _ in range(10)] == [i * i for i in range(10)]
    assert len(read) < 20
    found.close()
