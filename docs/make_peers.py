"""Write docs/peers-tsadmetrics.md: every metric of tsadmetrics beside its counterpart here.

    python docs/make_peers.py            # a few minutes; needs the extra [parity]

Each row is one run: the largest difference on 1,000 random cases, and the times of both on one series.
"""

import argparse
import math
import time
import warnings
from importlib.metadata import version
from pathlib import Path

import measured
import numpy as np

from tsadeval.core.metric import parse_metric

NAME = "peers-tsadmetrics"
PAGE = Path(__file__).parent / f"{NAME}.md"

# Name there, its options, the metric here, and what to know where they differ.
ROWS = [
    ("pwf", {}, "f1", ""),
    ("pak", {}, "precision_at_k", "ties at the k-th score: all of them count there, their share here"),
    ("pw_auc_roc", {}, "auc_roc", ""),
    ("pw_auc_pr", {}, "auc_pr", ""),
    ("dicec", {}, "f1", "the same number under another name"),
    ("cf", {}, "composite_f1", ""),
    ("pa_auc_pr", {}, "auc_pr_pa(interpolation='trapezoid')", ""),
    ("pa_auc_roc", {}, "auc_roc_pa", ""),
    ("swf", {}, "event_f1", ""),
    ("rbf", {}, "range_f1(alpha=0.5, precision_alpha=0.5, cardinality='one')", ""),
    ("paf", {}, "f1_pa", ""),
    ("bpaf", {"w": 3}, "balanced_f1_pa(width=2, form='false')", "erratum 35"),
    ("adc", {}, "average_detection_count", ""),
    ("dair", {}, "detection_accuracy_in_range(false='all')", "erratum 31"),
    ("pakf", {}, "f1_pa_k(k=0.5)", ""),
    ("paklf", {}, "f1_pa_kl", ""),
    ("taf", {"delta": 4, "alpha": 0.6, "theta": 0.59}, "tapr_f1(delta=5, alpha=0.6, theta=0.59)", "erratum 20"),
    ("tdir", {}, "total_detected_in_range", "erratum 31"),
    ("wdd", {}, "weighted_detection_difference", ""),
    ("add", {}, "absolute_detection_distance", "erratum 33"),
    ("td", {}, "temporal_distance", "at `distance=1` erratum 32"),
    ("etaf", {}, "etapr_f1(theta_r=0.5)", ""),
    ("dtpaf", {"k": 4}, "f1_pa_delay(max_delay=3)", ""),
    ("lsaf", {}, "latency_sparsity_f1", "terms of 1e-5, erratum 34"),
    ("mttd", {}, "detection_delay", "erratum 22"),
    ("nab_score", {}, "nab_score", ""),
    ("eds", {}, "early_detection_score", ""),
    ("aff_f", {}, "affiliation_f1", ""),
    ("naff_f", {"alpha": 0.5}, "normalized_affiliation_f1", "erratum 21"),
    ("ttf", {}, "time_tolerant_f1", ""),
    ("vus_pr", {}, "vus_pr(window=2)", "their window counts both sides"),
    ("vus_roc", {}, "vus_roc(window=2)", "their window counts both sides"),
    ("pate_f1", {}, "pate_f1(early=5, delay=5)", ""),
    ("pate", {}, "pate(early=5, delay=5)", "erratum 26"),
]

HEAD = """# Every metric of tsadmetrics, and its counterpart here

Written by `docs/make_peers.py` with tsadmetrics {version}. The difference is the largest on 1,000 random cases of 5 to 60 points
(events and alarms of all lengths, at the ends too; scores with and without ties); "equal" counts the cases that agree to
1e-9 among those that are defined here. Where a row is not equal everywhere, the number refers to `docs/errata.md`, which has the
smallest input. Times are CPU times, the least of several calls, on one series of {n:,} points with 20 events; read the ratio, the milliseconds are
those of one machine.
"""
COLUMNS = ["tsadmetrics", "tsadeval", "equal", "largest difference", "remark", "theirs, ms", "ours, ms", "ratio"]


def cases(number):
    rng = np.random.default_rng(2026)
    while number:
        n = int(rng.integers(5, 61))
        y, p = ((np.cumsum(rng.random(n + 1) < rng.uniform(0.05, 0.6)) % 2)[1:].astype(int) for _ in range(2))
        if not y.any() or y.all():
            continue
        s = rng.random(n) if number % 2 else rng.integers(0, 9, n) / 8
        number -= 1
        yield y, p, s


def series(n):
    rng = np.random.default_rng(7)
    y = np.zeros(n, int)
    for start in rng.choice(n // 100, 20, replace=False) * 100:
        y[start : start + int(rng.integers(5, 90))] = 1
    s = rng.random(n) + 0.3 * y
    return y, (s > np.quantile(s, 0.95)).astype(int), s


def seconds(function, limit=0.3):
    """The least CPU time of a call; at least one call, and no new one once the limit is reached."""
    best, start = math.inf, time.process_time()
    while best is math.inf or time.process_time() - start < limit:
        begin = time.process_time()
        function()
        best = min(best, time.process_time() - begin)
    return best


def row(peer, name, options, ours, remark, pairs, long):
    theirs = peer(name, **{k: float(v) if k == "delta" else v for k, v in options.items()})
    if "delta" in options:
        theirs.params["delta"] = options["delta"]  # it asks for a float, but counts points with it
    metric = parse_metric(ours)
    scores = metric.kind == "scores"
    assert scores == (not theirs.binary_prediction)
    equal, defined, largest = 0, 0, 0.0
    for y, p, s in pairs:
        found = metric(y, s if scores else p)
        if math.isnan(found):
            continue
        difference = abs(found - float(theirs.compute(y, s if scores else p)))
        defined += 1
        equal += difference <= 1e-9
        largest = max(largest, difference)
    y, p, s = long
    other = s if scores else p
    slow, fast = seconds(lambda: theirs.compute(y, other)), seconds(lambda: metric(y, other))
    arguments = ", ".join(f"{k}={v}" for k, v in options.items())
    named = type(theirs).__name__ + (f"({arguments})" if arguments else "")
    ratio = slow / fast
    return {
        "theirs": named,
        "ours": str(metric),
        "equal": f"{equal:,} of {defined:,}",
        "difference": "0" if largest == 0 else f"{largest:.1e}",
        "remark": remark,
        "theirs_ms": f"{1e3 * slow:.2f}",
        "ours_ms": f"{1e3 * fast:.3f}",
        "ratio": f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}",
    }


def table():
    rows = ([f"`{theirs}`", f"`{ours}`", *rest] for theirs, ours, *rest in map(dict.values, measured.read(NAME)))
    return measured.table(COLUMNS, "llrrlrrr", rows)


def main(n, only):
    """Measure some metrics, or all, and write the page; the other rows stay as they are."""
    from tsadmetrics.metrics.Registry import Registry

    warnings.simplefilter("ignore")
    assert sorted(Registry.available_metrics()) == sorted(name for name, *_ in ROWS), "a metric has no row"
    pairs, long = list(cases(1000)), series(n)
    old = {found["theirs"].partition("(")[0]: found for found in measured.read(NAME)}
    rows = []
    for name, options, ours, remark in ROWS:
        if only and name not in only:
            rows.append(old[type(Registry.get_metric(name)).__name__])
        else:
            rows.append(row(Registry.get_metric, name, options, ours, remark, pairs, long))
            print(rows[-1], flush=True)
    measured.write(NAME, rows)
    PAGE.write_text(f"{HEAD.format(version=version('tsadmetrics'), n=n)}\n{table()}\n", encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("only", nargs="*", help="names of tsadmetrics; all of them without any")
    given = parser.parse_args()
    main(given.points, given.only)
