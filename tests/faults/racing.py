"""Evaluate every metric, and search its best threshold, while another thread writes to the arrays.

And, so that it does not depend on luck, on arrays that were written to right after they were checked. Values mean
nothing then, and an error is fine; a crash or a hang is not. Usage: racing.py SECONDS [NAME...]
"""

import contextlib
import faulthandler
import sys
import threading
import time
import warnings

import numpy as np

import tsadeval as te
from tsadeval.core.inputs import Scoring
from tsadeval.core.metric import METRICS
from tsadeval.thresholds.best import find_best

ALLOWED = (te.errors.TsadevalError, ValueError, IndexError, FloatingPointError, ZeroDivisionError)


def writer(y, s, stop, rng):
    """Exchange labels and scores as fast as possible; now and then a value that is no score or no label."""
    n = len(y)
    fresh = [(rng.random(n) < p).astype(y.dtype) for p in (0.02, 0.3, 0.9)]
    scores = [rng.random(n), rng.integers(0, 3, n) * 1.0, rng.normal(size=n) * 1e3, np.zeros(n), np.ones(n)]
    wild = scores[0].copy()
    wild[rng.integers(0, n, 5)] = [np.nan, np.inf, -np.inf, 1e308, -1e308]
    scores = [*scores, wild, *scores]
    while not stop.is_set():
        for i in rng.permutation(len(scores)):
            y[:] = fresh[i % len(fresh)]
            s[:] = scores[i]
            a = int(rng.integers(0, n))
            y[a : a + 50] ^= 1


def race(function, seconds, seed):
    rng = np.random.default_rng(seed)
    calls = errors = 0
    for dtype in (np.int64, np.uint8):
        n = int(rng.choice([400, 4000, 60000]))
        y, s = (rng.random(n) < 0.1).astype(dtype), rng.random(n)
        stop = threading.Event()
        thread = threading.Thread(target=writer, args=(y, s, stop, rng), daemon=True)
        thread.start()
        until = time.monotonic() + seconds / 2
        while time.monotonic() < until:
            calls += 1
            try:
                function(y, s)
            except ALLOWED:
                errors += 1
        stop.set()
        thread.join()
    return calls, errors


def write_after_the_check(metric, rng):
    """Compute a metric where its scores, and perhaps labels, are others than those that were checked."""
    compute = find_best if metric.kind == "predictions" else lambda m, data: m.value_of(data)
    n = 300
    some = rng.random(n)
    some[rng.integers(0, n, 40)] = np.nan
    for scores in (np.full(n, np.nan), some, -some, rng.random(n) * 1e3 - 500, np.zeros(n), np.full(n, np.inf)):
        for labels in (None, rng.random(n) < 0.9):
            y, s = (rng.random(n) < 0.1).astype(np.int64), rng.integers(0, 100, n) / 7
            data = Scoring.of(y, s)
            s[:] = scores
            if labels is not None:
                y[:] = labels
            with contextlib.suppress(*ALLOWED):
                compute(metric, data)


def main(seconds, names):
    faulthandler.enable()
    faulthandler.dump_traceback_later(max(60.0, 20 * seconds), exit=True, repeat=False)
    warnings.simplefilter("ignore")
    sys.setswitchinterval(1e-5)
    for name in names or METRICS:
        metric = METRICS[name]
        write_after_the_check(metric, np.random.default_rng(1))
        ways = {"value": lambda y, s, m=metric: te.evaluate(y, s, [m], threshold="quantile(0.9)")}
        if metric.kind == "predictions":
            ways["best"] = lambda y, s, m=metric: te.best_threshold(m, y, s)
        for way, function in ways.items():
            faulthandler.cancel_dump_traceback_later()
            faulthandler.dump_traceback_later(max(60.0, 20 * seconds), exit=True)
            print(name, way, end=" ", flush=True)
            print(*race(function, seconds, 0), flush=True)


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
