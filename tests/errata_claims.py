"""Every number of docs/errata.md that is a result, computed.

A claim names the item, the number as printed there and how to compute it. Some need a peer's package or the published
values; without these they are not checked. `make errata` installs the packages, prints all numbers and fails where one
differs or could not be computed for want of a package.
"""

import csv
import gzip
import math
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import errata_peers  # noqa: F401 - its claims are among CLAIMS, too
import published
import tsadeval as te
from errata_tools import CLAIMS, bits, cce_package, claim, collection, holds, missing, quiet
from naive import published as as_published
from tsadeval import metrics as ours
from tsadeval.core.events import Events
from tsadeval.reproduction.printed import printed

ERRATA = Path(__file__).resolve().parents[1] / "docs" / "errata.md"

# CCE


def five_models(**options: Any) -> list[float]:
    random = np.random.RandomState(43)  # as published
    y = np.zeros(500, np.int64)
    for _ in range(2):
        start = random.randint(0, 450)
        y[start : start + max(random.randint(1, 51), 30)] = 1
    models = [(1.0, 0.05), (0.9, 0.05), (0.9, 0.1), (0.9, 0.3), (0.8, 0.3)]
    return [te.cce(y, published.scores_of(y, "PreQ-NegP-R", 42, q, p, 0.1), **options) for q, p in models]


claim(1, ".76836", ".70718", ".65847", ".51023", ".41211")(lambda: five_models(uncertainty="scaled"))
claim(1, ".7527", ".6785", ".6273", ".4750", ".3732")(five_models)

SMALL = bits("00001111"), np.array([0.1, 0.2, 0.1, 0.2, 0.9, 0.8, 0.9, 0.7])


@claim(2, "9.5e-9", needs="published", bound=True)
def _() -> float:
    largest = 0.0
    for case, *model, value in published.published_values("CCE"):
        y = published.labels_of(case)
        found = te.cce(y, published.scores_of(y, *model), uncertainty="pointwise")
        largest = max(largest, abs(found - value))
    return largest


claim(2, ".838", ".375", needs="cce")(lambda: [cce_package("metric_CCE", SMALL[0], k * SMALL[1]) for k in (1, 1e-8)])
claim(2, ".2500", needs="cce")(lambda: cce_package("metric_CCE", "00001111", bits("01010111").astype(float)))
claim(2, ".2073")(lambda: te.cce(bits("00001111"), bits("01010111")))
NINE_OF_TEN = np.repeat([0, 1], 10), np.where(np.arange(20) % 10 == 0, 1 - np.repeat([0, 1], 10), np.repeat([0, 1], 10))
claim(2, ".8000", needs="cce")(lambda: cce_package("metric_CCE", NINE_OF_TEN[0], NINE_OF_TEN[1].astype(float)))
claim(2, ".7311")(lambda: te.cce(*NINE_OF_TEN))
claim(4, "1.8", "-1.8")(lambda: [te.cce([0, 1], [0, 1], tau=0.1), te.cce([0, 1], [1, 0], tau=0.9)])


def change(y: Any, s: Any, moved: Any, **options: Any) -> float:
    return abs(te.cce(y, moved, **options) - te.cce(y, s, **options)) / float(np.linalg.norm(np.subtract(moved, s)))


def largest_change(normal: int, anomalous: int) -> float:
    """By moving all scores of a class alike, against those of the other: the constant of two events."""
    y = np.repeat([1, 0], [anomalous, normal])
    s = np.full(len(y), 0.5)
    return change(y, s, s + 1e-3 * np.where(y == 1, 1 / anomalous, -1 / normal), normalize=None)


claim(5, "1.414", "1.049", ".141")(lambda: [largest_change(1, 1), largest_change(10, 1), largest_change(100, 100)])


@claim(5, "1.400", "1,400")
def _() -> list[float]:
    y = np.repeat([0, 1], 100)
    s = y.astype(float)
    s[1:-1] = np.clip(s[1:-1], 1e-5, 1 - 1e-5)
    moved = np.clip(s, 1e-5, 1 - 1e-5)  # the first and the last
    return [change(y, s, moved), change(y, s / 1000, moved / 1000)]


@claim(5, ".81", bound=True)
def _() -> float:
    """Of the constant that follows from the lengths and the stated one."""
    shortest = np.arange(1, 1000)
    return float((np.sqrt(2 / shortest) / (1 + 0.75 / shortest)).max())


@claim(6, ".928", ".027", ".847", ".49833", ".49819")
def _() -> list[float]:
    rng = np.random.default_rng(0)
    y = np.zeros(1000, int)
    y[300:350] = y[700:720] = 1
    s = np.where(y == 1, 0.9, 0.0) + np.where(y == 1, 0.1, 0.05) * rng.random(1000)
    outlier = s.copy()
    outlier[310] = 100.0
    ranks = [te.cce(y, x, normalize="rank") for x in (s, outlier)]
    return [te.cce(y, s), te.cce(y, outlier), te.cce(y, outlier, normalize="quantile"), *ranks]


@claim(7, ".547", ".542", ".392")
def _() -> list[float]:
    y, s = bits("00011"), np.array([0, 0.3, 0.4, 0.6, 1])
    return [te.cce(y, s), te.cce(y, s**4), te.cce(y, s**0.1)]


# RankEval: the sample of the published values on the 14 short label sets


@cache
def differences(label: str) -> np.ndarray:
    """Of our values to the published ones, with where they come from."""
    from published_values import SHORT, compared

    return np.array([abs(mine - theirs) for _, mine, theirs in compared(label, tuple(SHORT))])


def noisy_accurate(label: str) -> np.ndarray:
    from published_values import SHORT, compared

    rows = [row for row in compared(label, tuple(SHORT)) if row[0].generator == "AccQ" and row[0].sigma]
    return np.array([abs(mine - theirs) for _, mine, theirs in rows])


claim(10, "52", "46", needs="compared")(lambda: [len(noisy_accurate(x)) for x in ("eTaPR", "Aff-F1")])
claim(10, "1e-15", needs="compared", bound=True)(lambda: max(noisy_accurate(x).max() for x in ("eTaPR", "Aff-F1")))
claim(12, "43.5")(lambda: np.maximum(np.arange(1, 61), 40).mean())
claim(12, "182")(lambda: len(Events.of(published.labels_of("100k-200seg-50L"))))


@claim(12, "463", "6", needs="published")
def _() -> list[int]:
    events = Events.of(te.datasets.load("creditcard", data=published.SHARED, features=False).test_labels)
    return [len(events), int((events.stops - events.starts).max())]


EXACT = ("F1", "F1-PA", "Reduced-F1")
NEAR = ("CCE", "AUC-ROC", "eTaPR", "Aff-F1")
claim(12.5, "265", "261", "286", needs="compared")(lambda: [len(differences(label)) for label in EXACT])
claim(12.5, "0.0", needs="compared", bound=True)(lambda: max(differences(label).max() for label in EXACT))
claim(12.5, "277", "281", "246", "269", needs="compared")(lambda: [len(differences(label)) for label in NEAR])
claim(12.5, "1e-15", needs="compared", bound=True)(lambda: max(np.nanmax(differences(label)) for label in NEAR))

# The text beside its code


@claim(38, ".507", ".516")
def _() -> list[float]:
    y, found = published.labels_of("10k-20seg-50H"), []
    for q in np.linspace(0.1, 1, 10):
        random = np.random.RandomState(42)
        right, u = random.rand(len(y)) <= q, random.rand(len(y))
        found.append(ours.auc_roc(y, np.where(right, 0.9 + 0.1 * u, 0.05 * u)))
    return [min(found), max(found)]


@claim(42, ".038", ".089")
def _() -> list[float]:
    """How far four metrics are behind the two affiliations, as printed."""
    paper = {column: float(value) for (row, column), value in printed("rank").items() if row == "average Sp"}
    behind = [paper[a] - paper[b] for a in ("Aff-F1", "UAff-F1") for b in ("F1", "F1-PA", "Reduced-F1", "eTaPR")]
    return [min(behind), max(behind)]


@claim(44, "120", "2", needs="published")
def _() -> list[int]:
    with gzip.open(published.SHARED / "published" / "values.csv.gz", "rt") as file:
        rows = [row for row in csv.DictReader(file) if (row["metric"], row["model"]) == ("eTaPR", "PreQ-NegP-R")]
    return [len(rows), len({row["case"] for row in rows})]


@claim(45, "13,931", "1,836", "2.49", "2.79", needs="published")
def _() -> list[float]:
    """The series as it is, scaled by its training part, by itself, and by both in two ways of rounding."""
    from sklearn.neighbors import LocalOutlierFactor

    from tsadeval.detectors.series import Scaler

    data = te.datasets.load("ucr/154", data=published.SHARED, end="exclusive")
    raw = data.test
    by_train = (raw - data.train.mean()) / data.train.std()
    ways = [raw, by_train, *((x - x.mean()) / x.std() for x in (raw, by_train)), Scaler.standard(by_train)(by_train)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scores = [-LocalOutlierFactor(30).fit(way).negative_outlier_factor_ for way in ways]
    found = [100 * te.cce(data.test_labels, s, uncertainty="pointwise") for s in scores]
    return [len(raw), len(np.unique(raw)), min(found), max(found)]


@claim(41, "72", "86", "0")
def _() -> list[float]:
    """How many percent of the noisy models have no score above the quantile, clipped and not."""
    short = [case for case in published.CASES if case.startswith("10k")]

    def silent(sigma: float, low: float, high: float) -> float:
        found = []
        for y in map(published.labels_of, short):
            for q in np.linspace(0.1, 1, 10):
                random = np.random.RandomState(42)
                right, u = random.rand(len(y)) <= q, random.rand(len(y))
                s = np.where((y == 1) == right, 0.9 + 0.1 * u, 0.05 * u) + random.normal(0, sigma, len(y))
                s = np.clip(s, low, high)
                found.append(not (s > np.quantile(s, 0.95)).any())
        return 100 * float(np.mean(found))

    return [silent(0.05, 0, 1), silent(0.1, 0, 1), silent(0.05, -9, 9) + silent(0.1, -9, 9)]


# The metrics that CCE is compared with

claim(13, ".774", needs="cce")(lambda: cce_package("metric_RF1", "0000111000", None, "0000111000"))
claim(13, ".0040", needs="compared")(lambda: differences("VUS-ROC").max())
claim(14, ".0192", needs="compared")(lambda: differences("R-based F1").max())


@claim(13, "1e-14", needs="published", bound=True)
def _() -> float:
    """Of twenty published values to those with the fault."""
    rows = [row for row in published.published_values("VUS-ROC") if row[0].startswith("10k")][:20]
    found = []
    for case, *model, value in rows:
        y = published.labels_of(case)
        found.append(abs(as_published.vus_roc(y, published.scores_of(y, *model)) - value))
    return max(found)


@claim(13, ".68789", ".68341", ".0045")
def _() -> list[float]:
    y = published.labels_of("10k-5seg-20H")
    s = published.scores_of(y, "LowDisAccQ", 2027, 0.1)
    theirs, right = as_published.vus_roc(y, s), ours.vus_roc(y, s, n_thresholds=100)
    return [theirs, right, theirs - right]


@claim(14, ".55596", ".63826", ".082", needs="published")
def _() -> list[float]:
    y = te.datasets.load("smd/1-1", data=published.SHARED, features=False).test_labels
    s = published.scores_of(y, "LowDisAccQ", 2026, 1.0)
    alarms = s > np.quantile(s, 0.95)
    theirs, right = as_published.range_f1(y, alarms), ours.range_f1(y, alarms)
    return [theirs, right, right - theirs]


@claim(14, "268", "268", needs="cce published")
def _() -> list[int]:
    """How many values there are, and how many of them the package gives with a path as its bias."""
    count = equal = 0
    for case, *model, value in published.published_values("R-based F1"):
        if case.startswith("10k"):
            y = published.labels_of(case)
            s = published.scores_of(y, *model)
            alarms = (s > np.quantile(s, 0.95)).astype(int)
            count += 1
            equal += abs(quiet(collection()(bias="a/path").metric_RF1, y, s, alarms) - value) < 1e-15
    return [count, equal]


@claim(14, ".42208", ".42840", ".0063", needs="compared")
def _() -> list[float]:
    from published_values import SHORT, compared

    wanted = ("10k-20seg-50H", "LowDisAccQ", 1.0, 0.1)
    found = [
        r for r in compared("R-based F1", tuple(SHORT)) if (r[0].case, r[0].generator, r[0].q, r[0].sigma) == wanted
    ]
    return [found[0][2], found[0][1], found[0][1] - found[0][2]]


claim(15, ".667", needs="cce")(lambda: cce_package("metric_PointF1PA", "110", None, "010")[0])
claim(15, "0", needs="cce")(lambda: cce_package("metric_Reduced_F1", "110", None, "010")[0])
LONG = np.repeat([0, 1, 0], [20, 240, 40])
ALARMS = np.where(np.arange(300) == 5, 1, LONG)
claim(16, ".8889", needs="cce")(lambda: cce_package("metric_Reduced_F1", LONG, None, ALARMS)[0])
claim(16, ".9091")(lambda: ours.reduced_f1(LONG, ALARMS))
claim(16, "0", needs="cce")(lambda: cce_package("metric_Reduced_F1", LONG, None, 0 * LONG)[0])
claim(16, "1.0", needs="cce")(lambda: cce_package("metric_Reduced_F1", bits("0011") == 1, None, "1111")[0])
claim(16, ".5")(lambda: ours.reduced_f1(bits("0011"), bits("1111")))


@claim(16, "1", needs="cce")
def _() -> int:
    """Does it raise without `preds`?"""
    try:
        cce_package("metric_Reduced_F1", LONG, np.linspace(0, 1, 300))
    except ValueError:
        return 1
    return 0


claim(17, ".01", ".665", needs="cce")(
    lambda: [cce_package("metric_PA_percentile_K", y, None, p)[0] for y, p in (("010", "000"), ("111", "100"))]
)
claim(17, ".670")(lambda: ours.pa_k_auc(bits("111"), bits("100")))


@claim(18, ".049", ".080", needs="cce")
def _() -> list[float]:
    """The smallest and largest standard deviation over 25 objects, on three cases; within one object there is none."""
    spreads = []
    for case in ("10k-20seg-50H", "10k-2seg-50L", "10k-50seg-20H"):
        y = published.labels_of(case)
        s = published.scores_of(y, "AccQ", 2025, 0.5)
        alarms = (s > np.quantile(s, 0.95)).astype(int)
        np.random.seed(0)  # noqa: NPY002 - the package draws from the global stream
        values = [cce_package("metric_U_Affiliation_f1_pre_rec", y, s, alarms)[0] for _ in range(25)]
        spreads.append(float(np.std(values)))
        same = collection()()
        assert len({quiet(same.metric_U_Affiliation_f1_pre_rec, y, s, alarms)[0] for _ in range(4)}) == 1
    return [min(spreads), max(spreads)]


# Definitions that do not give the labels their largest value

claim(0, "0", "1")(lambda: [quiet(ours.alarm_episodes, bits("1"), bits(p)) for p in ("0", "1")])
claim(0, ".4", ".5")(lambda: [ours.balanced_f1_pa(bits("0010"), bits(p)) for p in ("0010", "0001")])
claim(0, ".222", "0")(lambda: [ours.absolute_detection_distance(bits("0111"), bits(p)) for p in ("0111", "0010")])


@claim(0, ".5", ".75")
def _() -> list[float]:
    y = np.repeat([0, 1, 0], [24, 6, 20])
    return [ours.early_detection_score(y, alarms) for alarms in (y, np.arange(50) == 23)]


claim(0, ".9963", ".9987")(lambda: [f(bits("001"), bits("001")) for f in (ours.range_auc_roc, ours.range_auc_pr)])
claim(0, ".9988", ".9994")(lambda: [f(bits("001"), [0, 1, 2]) for f in (ours.range_auc_roc, ours.range_auc_pr)])


@claim(0, ".52", ".72", ".81")
def _() -> list[float]:
    y = np.zeros(5000, int)
    y[[1000, 3000]] = 1
    drawn = [ours.range_auc_roc(y, np.random.default_rng(seed).random(5000)) for seed in range(20)]
    return [ours.range_auc_roc(y, y), min(drawn), max(drawn)]


def main() -> None:
    failed = unchecked = 0
    for one in sorted(CLAIMS, key=lambda one: one.item or math.inf):
        why = missing(one)
        if why:
            unchecked += not why.startswith("the published values")
            print(f"{one.item:4g}  {one.printed:>10}  not checked: {why}")
            continue
        good = holds(one)
        failed += not good
        print(f"{one.item:4g}  {one.printed:>10}  {float(one.compute()):.6g}{'' if good else '  DIFFERS'}", flush=True)
    print(f"{len(CLAIMS)} numbers, {failed} differ, {unchecked} need a package that is not installed")
    raise SystemExit(bool(failed or unchecked))


if __name__ == "__main__":
    main()
