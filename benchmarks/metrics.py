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

SIZE = 100_000
TOGETHER = "vus_roc + vus_pr"

# In units of one sort, at n = 100,000.
TARGETS = {
    "auc_roc": 3,
    "auc_pr": 3,
    "best_f1": 3,
    TOGETHER: 6,
    "pate": 10,
    "ears": 4,
    "affiliation_f1": 3,
    "range_f1": 3,
    "etapr_f1": 3,
    "f1_pa": 1,
    "reduced_f1": 1,
    **{f"best threshold of {name}": 10 for name in METRICS if METRICS[name].best is not None},
    "best threshold of affiliation_f1": 20,
    "best threshold of range_f1": 20,
}
ALL_TARGET = 0.150  # seconds


def calls(data, only=()):
    """What is timed, by name: the sort, every metric, and every exact best threshold; or the sort and those named."""
    found = {"np.sort": lambda: np.sort(data.s)}
    for name, metric in METRICS.items():
        other = data.s if metric.kind == "scores" else data.p
        found[name] = lambda metric=metric, other=other: metric(data.y, other)
    found[TOGETHER] = lambda: te.evaluate(data.y, data.s, ["vus_roc", "vus_pr"])
    for name, metric in METRICS.items():
        if metric.best is not None:
            found[f"best threshold of {name}"] = lambda metric=metric: te.best_threshold(metric, data.y, data.s)
    return {name: call for name, call in found.items() if not only or name in ("np.sort", *only)}


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
    measured.put("benchmarks.md", "All metrics, on a second machine", measured.speed())


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
        elif name == everything:
            target, judged = f"{1e3 * ALL_TARGET:.0f} ms", verdict(wall[name], cpu[name], ALL_TARGET)
        print(f"| {name} | {1e3 * wall[name]:.3f} | {sorts:.2f} | {cpu_sorts:.2f} | {target} | {judged} |")


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
    speed(options.rounds, options.only, options.keep and not options.only)
    growth(options.largest, options.only)
