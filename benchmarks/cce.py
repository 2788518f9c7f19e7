"""CCE against the physical limit (reading both arrays once), its growth, its memory, and the weight of the import.

    python benchmarks/cce.py

Times are ratios taken in one run: the competitors take turns, round by round, and the best round of each counts,
because on a shared machine the noise is larger than the difference.
"""

import argparse
import subprocess
import sys
import time
import tracemalloc

import numpy as np

import tsadeval as te


def example(n, events=None):
    """int64 labels with events of 50 points, and float64 scores."""
    rng = np.random.default_rng(0)
    y = np.zeros(n, np.int64)
    for start in rng.integers(0, n - 50, events or max(n // 1000, 1)):
        y[start : start + 50] = 1
    return y, rng.random(n)


def best_of(functions, rounds):
    best = dict.fromkeys(functions, float("inf"))
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.perf_counter()
            function()
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def speed(largest):
    sizes, seconds = [], []
    print(f"{'n':>11} {'read once':>12} {'cce':>12} {'ratio':>7} {'ns a point':>11} {'extra memory':>13}")
    for n, rounds in ((1_000, 3000), (10_000, 3000), (100_000, 1500), (1_000_000, 150), (10_000_000, 30)):
        if n > largest:
            continue
        y, s = example(n)
        times = best_of(
            {"read": lambda y=y, s=s: (np.count_nonzero(y), s.sum()), "cce": lambda y=y, s=s: te.cce(y, s)}, rounds
        )
        sizes.append(n)
        seconds.append(times["cce"])
        tracemalloc.start()
        te.cce(y, s)
        memory = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        ratio, each = times["cce"] / times["read"], 1e9 * times["cce"] / n
        print(
            f"{n:>11,} {1e6 * times['read']:>9.1f} µs {1e6 * times['cce']:>9.1f} µs {ratio:>7.2f} {each:>11.2f} "
            f"{memory / 1e3:>10.1f} kB"
        )
    exponent = np.polyfit(np.log(sizes[2:]), np.log(seconds[2:]), 1)[0] if len(sizes) > 3 else np.nan
    print(f"from 100,000 points on the time grows as n to the power of {exponent:.2f} (1: linear)")


def events():
    print("\nn = 1,000,000, by the number of events asked for")
    for k in (1, 100, 10_000, 100_000):
        y, s = example(1_000_000, k)
        times = best_of(
            {"read": lambda y=y, s=s: (np.count_nonzero(y), s.sum()), "cce": lambda y=y, s=s: te.cce(y, s)}, 50
        )
        print(f"{k:>11,} events: {times['cce'] / times['read']:.2f} times reading once")


def weight():
    def seconds(what):
        code = f"import time, numpy; start = time.perf_counter(); {what}; print(time.perf_counter() - start)"
        return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(15))

    print(f"\nimport tsadeval after numpy: {1e3 * seconds('import tsadeval'):.1f} ms")
    print(f"and the first cce with it:   {1e3 * seconds('import tsadeval; tsadeval.cce([0, 1], [0, 1])'):.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=10_000_000)
    speed(parser.parse_args().largest)
    events()
    weight()
