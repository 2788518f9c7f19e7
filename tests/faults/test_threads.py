"""Arrays that another thread writes to while they are evaluated: never a crash, never a hang."""

import os
import subprocess
import sys
from pathlib import Path

from strategies import FACTOR
from tsadeval.core.metric import METRICS

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
