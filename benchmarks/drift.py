"""Count warnings of drift that `te.StreamingEvaluator` gives on scores that do not drift, and on scores that do.

    python benchmarks/drift.py [SERIES]

Each series is an AR(1) process of minutes: two weeks of reference and four weeks that are looked at every day, with a
window of seven days. False warnings are counted once when they begin, and are stated per year; beside them the share of
series in which a shift, in standard deviations of the scores, is warned of once it has filled the window.
"""

import sys
from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter

import tsadeval as te

DAY, REFERENCE, WINDOW, DAYS = 1440, 14, 7, 28
SHIFTS = (0.25, 0.5, 1.0)


@dataclass
class Case:
    """A kind of series: its autocorrelation from minute to minute, and whether parts of it are missing."""

    rho: float
    gaps: bool = False

    def scores(self, rng):
        """Return stamps and scores; with gaps a tenth of the hours are missing, and a day of each two weeks."""
        n = DAY * (REFERENCE + DAYS)
        noise = rng.normal(size=n) * np.sqrt(1 - self.rho**2)
        noise[0] /= np.sqrt(1 - self.rho**2)
        scores = lfilter([1], [1, -self.rho], noise)
        there = np.ones(n, np.bool_)
        if self.gaps:
            there = np.repeat(rng.random(n // 60) > 0.1, 60) & (np.arange(n) // DAY % 14 != 9)
        return np.arange(n)[there], scores[there]


def measure(case, series, seed=0):
    """Return false warnings a year, and the share of series in which each shift is warned of."""
    rng = np.random.default_rng(seed)
    begun, found = 0, np.zeros(len(SHIFTS))
    for _ in range(series):
        minutes, scores = case.scores(rng)
        days = minutes // DAY
        reference = scores[days < REFERENCE]
        stream, warned = te.StreamingEvaluator(9, window="7 days", reference=reference), False
        for day in range(REFERENCE, REFERENCE + DAYS):
            part = days == day
            if not part.any():
                continue
            stream.update(None, scores[part], times=60 * minutes[part])
            now = stream.drift().warning is not None
            begun += now and not warned
            warned = now
        last = days >= REFERENCE + DAYS - WINDOW
        for i, shift in enumerate(SHIFTS):
            shifted = te.StreamingEvaluator(9, window="7 days", reference=reference)
            shifted.update(None, scores[last] + shift, times=60 * minutes[last])
            found[i] += shifted.drift().warning is not None
    return begun / series / (DAYS / 365), found / series


if __name__ == "__main__":
    series = int(sys.argv[1]) if sys.argv[1:] else 1000
    print("| autocorrelation | gaps | false warnings a year | shift of 0.25 | 0.5 | 1 |\n|---|---|---|---|---|---|")
    for case in (Case(0), Case(0.5), Case(0.9), Case(0.98), Case(0.9, gaps=True)):
        rate, power = measure(case, series)
        cells = [f"{case.rho:g}", "yes" if case.gaps else "no", f"{rate:.2f}", *(f"{100 * p:.0f} %" for p in power)]
        print(f"| {' | '.join(cells)} |", flush=True)
