"""Arrays that another thread writes to while they are evaluated: never a crash, never a hang."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from strategies import FACTOR
from tsadeval.core.metric import METRICS
from tsadeval.metrics._kernels import ears, pate, point_adjusted

RACING = Path(__file__).with_name("racing.py")


def test_every_metric_and_every_best_threshold_survive_a_writer():
    seconds = os.environ.get("TSADEVAL_RACE_SECONDS", str(max(0.01, 0.1 * FACTOR)))
    done = subprocess.run([sys.executable, RACING, seconds], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr[-3000:]
    tried = [line.split() for line in done.stdout.splitlines()]
    assert {line[0] for line in tried} == set(METRICS)
    assert {line[0] for line in tried if line[1] == "best"} == {
        m.name for m in METRICS.values() if m.kind == "predictions"
    }
    assert all(int(line[2]) > 0 for line in tried)


def totals_of_ears(scores):
    n = len(scores)
    changes = ears.changes(scores, np.array([0]), np.array([n]), 0, 1, 1, 1.0)
    levels, weights = np.zeros(n, ears.LEVEL), ears.spread(changes, n, 1)
    for ascending in (np.sort(scores), np.zeros(n)):
        ears.totals(ascending, scores[changes["position"]], changes, 1, 0.01, levels)
    return ears.charges(np.zeros(n, np.int32), weights, levels, 0.01, 1.0, 1.0)


# What a metric sees when another thread writes NaN, or other scores, after they were checked (and maybe sorted).
@pytest.mark.parametrize(
    "kernel",
    {
        "best_adjusted": lambda s: point_adjusted.best_adjusted(
            s, *np.zeros((2, len(s)), int), np.ones(1, int), np.ones(1, int), np.zeros(1), True, np.ones(1), 1.0
        ),
        "kept_positions": lambda s: pate.kept_positions(np.sort(s), np.sort(s)),
        "kept_positions of others": lambda s: pate.kept_positions(np.zeros(len(s)), np.sort(s)),
        "ears": totals_of_ears,
    }.items(),
    ids=lambda named: named[0],
)
@pytest.mark.parametrize("scores", [[np.nan] * 5, [3, np.nan, 2, np.nan], [1, 2, 1, 3]], ids=str)
def test_a_kernel_ends_whatever_the_scores(kernel, scores):
    thread = threading.Thread(target=kernel[1], args=(np.array(scores, float),), daemon=True)
    thread.start()
    thread.join(30)
    assert not thread.is_alive()
