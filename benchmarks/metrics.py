"""Every metric of the registry in units of one `np.sort` of the scores, its growth with n, and its memory.

    python benchmarks/metrics.py
    python benchmarks/metrics.py --largest 1000000
    python benchmarks/metrics.py --only ears

Public calls on arrays, all in one run: they take turns in random order, round by round, and the best round of each
counts. Targets are meant for wall time. CPU time stands beside it, and growth is in CPU time, because on a shared
machine a call of more than a few ms has others' work in its wall time. Nothing is asserted: a target is printed
beside what was measured.
"""

import argparse
import math
import os
import platform
import time
import tracemalloc

import numpy as np
from peers import Data, measured

import tsadeval as te
from tsadeval.core.metric import METRICS
from tsadeval.core.order import digits_pay

SIZE = 100_000
TOGETHER = "vus_roc + vus_pr"
READING = "reading both arrays"

# In units of one sort, at n = 100,000. A sort without vector instructions takes about ten times as long as one with.
PLAIN = digits_pay()
BELOW_ONE_SORT = ("auc_roc", "auc_pr", "best_f1", "auc_roc_pa", "auc_pr_pa")
TARGETS = {
    **dict.fromkeys(BELOW_ONE_SORT, 0.25 if PLAIN else 1),
    "precision_at_k": 0.15 if PLAIN else 1,
    TOGETHER: 0.6 if PLAIN else 6,
    "pate": 0.6 if PLAIN else 6,
    "ears": 4,
    "affiliation_f1": 3,
    "range_f1": 3,
    "etapr_f1": 3,
    **{f"best threshold of {name}": 10 for name in METRICS if METRICS[name].best is not None},
    "best threshold of affiliation_f1": 20,
    "best threshold of range_f1": 20,
}
ALL_TARGET = 0.150  # seconds
# In units of reading both arrays.
READS = dict.fromkeys(
    ("accuracy", "f1", "f1_pa", "f1_pa_k", "f1_pa_delay", "reduced_f1", "detection_delay", "event_f1"), 1.5
)


def calls(data, only=()):
    """What is timed, by name: the sort, every metric, and every exact best threshold; or the sort and those named."""
    found = {"np.sort": lambda: np.sort(data.s), READING: lambda: (data.y.sum(), data.p.sum())}
    for name, metric in METRICS.items():
        other = data.s if metric.kind == "scores" else data.p
        found[name] = lambda metric=metric, other=other: metric(data.y, other)
    found[TOGETHER] = lambda: te.evaluate(data.y, data.s, ["vus_roc", "vus_pr"])
    for name, metric in METRICS.items():
        if metric.best is not None:
            found[f"best threshold of {name}"] = lambda metric=metric: te.best_threshold(metric, data.y, data.s)
    return {name: call for name, call in found.items() if not only or name in ("np.sort", READING, *only)}


def best_of(functions, rounds):
    """The least wall time and the least CPU time of each."""
    wall, cpu = dict.fromkeys(functions, math.inf), dict.fromkeys(functions, math.inf)
    turns = list(functions)
    rng = np.random.default_rng(0)
    for _ in range(rounds):
        rng.shuffle(turns)  # nobody always comes after the one that leaves the caches cold
        for name in turns:
            start, cpu_start = time.perf_counter(), time.process_time()
            functions[name]()
            cpu[name] = min(cpu[name], time.process_time() - cpu_start)
            wall[name] = min(wall[name], time.perf_counter() - start)
    return wall, cpu


def peak_memory(function):
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def verdict(wall, cpu, target):
    return "met" if wall <= target else "met in CPU time" if cpu <= target else "not met"


def keep(wall, cpu):
    """Write what the pages of the metrics show, and its table into docs/benchmarks.md."""
    rows = [
        {
            "call": name,
            "ms": round(1e3 * wall[name], 3),
            "sorts": round(wall[name] / wall["np.sort"], 2),
            "cpu_sorts": round(cpu[name] / cpu["np.sort"], 2),
        }
        for name in wall
        if not name.startswith("best threshold")
    ]
    measured.write("speed", rows)
    measured.put("benchmarks.md", "Every metric, in units of a sort", measured.speed())


def speed(rounds, only, kept):
    data = Data.of(SIZE)
    everything = f'evaluate(..., "all"), {len(METRICS)} metrics'
    whole = {} if only else {everything: lambda: te.evaluate(data.y, data.s, "all")}
    wall, cpu = best_of({**calls(data, only), **whole}, rounds)
    if kept:
        keep(wall, cpu)
    print(f"n = {SIZE:,}; {rounds} rounds; one sort takes {1e3 * wall['np.sort']:.3f} ms\n")
    print("| call | ms | sorts | sorts, CPU time | target | |")
    print("|---|--:|--:|--:|--:|---|")
    for name in wall:
        sorts, cpu_sorts = wall[name] / wall["np.sort"], cpu[name] / cpu["np.sort"]
        target, judged = "", ""
        if name in TARGETS:
            target, judged = f"{TARGETS[name]}", verdict(sorts, cpu_sorts, TARGETS[name])
        elif name in READS:
            target = f"{READS[name]} x reading"
            judged = f"{wall[name] / wall[READING]:.2f}: {verdict(wall[name], cpu[name], READS[name] * wall[READING])}"
        elif name == everything:
            target, judged = f"{1e3 * ALL_TARGET:.0f} ms", verdict(wall[name], cpu[name], ALL_TARGET)
        print(f"| {name} | {1e3 * wall[name]:.3f} | {sorts:.2f} | {cpu_sorts:.2f} | {target} | {judged} |")


def spread(data, rng):
    """Labels and scores of the same length that a table of equal cells, a guess or a sort may find hard."""
    y, s, n = data.y, data.s, len(data.s)
    outliers = s.copy()
    outliers[[n // 3, np.flatnonzero(y)[0]]] = -1e300, 1e300
    half = (np.arange(n) // 50 % 2).astype(np.int64)
    return {
        "as above": (y, s),
        "float32": (y, s.astype(np.float32)),
        "one outlier of each sign": (y, outliers),
        "heavy tails, exp(3 x)": (y, np.exp(3 * s)),
        "all magnitudes": (y, np.sign(s) * 2.0 ** np.clip(200 * s, -1000, 1000)),
        "a large offset": (y, 1e9 + 1e-3 * s),
        "tenths": (y, s.round(1)),
        "two values": (y, (s > 1).astype(float)),
        "all equal": (y, np.zeros(n)),
        "sorted": (y, np.sort(s)),
        "reversed": (y, np.sort(s)[::-1].copy()),
        "a fifth anomalous": ((np.arange(n) // 50 % 5 == 0).astype(np.int64), s),
        "half anomalous": (half, s),
        "half anomalous, heavy tails": (half, np.exp(3 * s)),
        "single anomalous points": ((rng.random(n) < 0.025).astype(np.int64), s),
    }


def worst_cases(rounds):
    """Time what needs counts or an order on scores that lie unevenly, all in units of one sort of normal noise."""
    names = ["auc_roc", "auc_pr", "best_f1", "auc_roc_pa", "precision_at_k", "pate", "ears", TOGETHER]
    noise = Data.of(SIZE)
    print(f"\nOther scores and labels, n = {SIZE:,}, in units of one np.sort of normal noise (CPU time).\n")
    print(f"| scores | np.sort | {' | '.join(names)} |")
    print("|---|" + "--:|" * (len(names) + 1))
    for kind, (y, s) in spread(noise, np.random.default_rng(0)).items():
        functions = calls(Data(y, s, noise.p), names)
        cpu = best_of(
            {"unit": lambda: np.sort(noise.s), **{name: functions[name] for name in ("np.sort", *names)}}, rounds
        )[1]
        print(f"| {kind} | " + " | ".join(f"{cpu[name] / cpu['unit']:.2f}" for name in ("np.sort", *names)) + " |")


def short(rounds):
    """Time calls on 100 points: what a call costs by itself."""
    functions = {name: call for name, call in calls(Data.of(100)).items() if not name.startswith("best threshold")}
    wall, _ = best_of(functions, rounds)
    groups = {"under 10": (0, 10), "10 to 20": (10, 20), "20 to 50": (20, 50), "50 and more": (50, math.inf)}
    print("\nMicroseconds of a call on 100 points:\n")
    for group, (low, high) in groups.items():
        print(f"{group}: " + ", ".join(f"{name} {1e6 * t:.0f}" for name, t in wall.items() if low <= 1e6 * t < high))


def growth(largest, only):
    sizes = [n for n in (SIZE, 1_000_000, 10_000_000) if n <= largest]
    costs, memories = {}, {}
    for n in sizes:
        functions = calls(Data.of(n), only)
        # Several rounds of the longest too: memory that the system has to find first costs more than the work.
        rounds = {SIZE: 20, 1_000_000: 6}.get(n, 4)
        for name, seconds in best_of(functions, rounds)[1].items():
            costs[name, n] = seconds / (n * math.log2(n))
            memories[name, n] = peak_memory(functions[name]) / (16 * n)
    print(
        "\nGrowth: CPU time / (n log2 n), relative to n = 100,000, and over that of np.sort. Memory: largest extra use,"
    )
    print("in multiples of the input (8 bytes a label and 8 a score), as tracemalloc sees it.\n")
    heads = [f"growth at {n:,} | over np.sort" for n in sizes[1:]] + [f"memory at {n:,}" for n in sizes]
    print(f"| call | {' | '.join(heads)} |")
    print("|---|" + "--:|" * (2 * len(sizes[1:]) + len(sizes)))
    for name in functions:
        cells = []
        for n in sizes[1:]:
            grown, sort_grown = (costs[of, n] / costs[of, SIZE] for of in (name, "np.sort"))
            cells += [f"{grown:.2f}", f"{grown / sort_grown:.2f}"]
        cells += [f"{memories[name, n]:.2f}" for n in sizes]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--only", nargs="+", default=(), metavar="CALL", help="beside np.sort; all by default")
    parser.add_argument("--keep", action="store_true", help="write the speed of all metrics into docs/")
    options = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores")
    print(f"scores are sorted {'by their digits' if PLAIN else 'by np.sort'}, which was measured to be quicker here")
    speed(options.rounds, options.only, options.keep and not options.only)
    worst_cases(max(options.rounds // 3, 3))
    short(10 * options.rounds)
    growth(options.largest, options.only)
