"""What operators ask for, in units of one `np.sort`: the operational metrics with time stamps, and choose_threshold.

    python benchmarks/operations.py
    python benchmarks/operations.py --largest 10000000 --rounds 30

Metrics and their exact best thresholds at n = 100,000 with options in time; `choose_threshold` over all thresholds, and
`curve`, `events` and `StreamingEvaluator`, at growing n. Wall and CPU time, the best round of each; a target is printed
beside what was measured, and nothing is asserted.
"""

import argparse
import os
import platform
import warnings

import numpy as np
from contests import Data

import tsadeval as te
from metrics import best_of, verdict
from tsadeval.core.metric import parse_metric
from tsadeval.scores.scored import observe

SIZE = 100_000
METRICS = [
    "event_recall(early='30min')",
    "event_precision(early='30min')",
    "event_precision(variant='discounted')",
    "alarming_precision",
    "detection_delay(unit='min')",
    "detection_delay(unit='min', statistic='p90')",
    "lead_time(horizon='2h', unit='min')",
    "false_alarms(per='week')",
    "false_alarms(per='week', early='30min')",
    "alarm_episodes(merge_gap='10min', min_duration='3min')",
    "time_in_alarm",
    "time_to_recover(unit='min')",
    "expected_cost(miss=50, false_alarm=1, delay_per_hour=10)",
    "time_tolerant_f1(tolerance='5min')",
    "total_detected_in_range(tolerance='5min')",
]
ONE, SWEEP, CHOICE = 1, 10, 5  # targets in sorts


def stamps(n):
    return te.times(np.arange(n), unit="min")


def measured(functions, rounds):
    """Rows of (name, ms, sorts, sorts in CPU time)."""
    wall, cpu = best_of(functions, rounds)
    return {name: (1e3 * wall[name], wall[name] / wall["np.sort"], cpu[name] / cpu["np.sort"]) for name in functions}


def show(rows, targets):
    print("| call | ms | sorts | sorts, CPU time | target | |")
    print("|---|--:|--:|--:|--:|---|")
    for name, (ms, sorts, cpu) in rows.items():
        target = targets.get(name)
        judged = "" if target is None else verdict(sorts, cpu, target)
        print(f"| {name} | {ms:.3f} | {sorts:.2f} | {cpu:.2f} | {target or ''} | {judged} |")


def of_metrics(rounds):
    data, times = Data.of(SIZE), stamps(SIZE)
    functions, targets = {"np.sort": lambda: np.sort(data.s)}, {}
    for name in METRICS:
        metric = parse_metric(name)

        def one(metric=metric):
            scoring = observe(data.y, None, data.p, times=times)
            return metric.run(scoring, None)

        def sweep(metric=metric):
            return metric.best(observe(data.y, data.s, times=times), **metric.options)

        functions[f"`{name}`"], targets[f"`{name}`"] = one, ONE
        functions[f"best threshold of `{name}`"], targets[f"best threshold of `{name}`"] = sweep, SWEEP
    print(f"\nn = {SIZE:,}, {rounds} rounds\n")
    show(measured(functions, rounds), targets)


def of_choices(n, rounds):
    data, times = Data.of(n), stamps(n)
    budget = {"times": times, "max_false_alarms": "1/day"}
    functions = {
        "np.sort": lambda: np.sort(data.s),
        "`choose_threshold`": lambda: te.choose_threshold(data.y, data.s, **budget),
        "`choose_threshold(early='30min')`": lambda: te.choose_threshold(data.y, data.s, early="30min", **budget),
        "`events`": lambda: te.events(data.y, data.s, threshold=3.0, times=times),
        "`StreamingEvaluator`, one chunk": lambda: te.StreamingEvaluator(3.0).update(data.y, data.s, times).compute(),
    }
    print(f"\nn = {n:,}, {rounds} rounds\n")
    show(measured(functions, rounds), {name: CHOICE for name in functions if "choose" in name})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores")
    of_metrics(options.rounds)
    for size in (n for n in (SIZE, 1_000_000, 10_000_000) if n <= options.largest):
        of_choices(size, {SIZE: options.rounds, 1_000_000: 5}.get(size, 3))
