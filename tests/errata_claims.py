"""Every number of docs/errata.md that is a result, computed.

A claim names the item, the number as printed there and how to compute it. Some need a peer's package or the published
values; without these they are not checked. `make errata` installs the packages, prints all numbers and fails where one
differs or could not be computed for want of a package.
"""

import contextlib
import importlib
import importlib.util
import io
import math
import sys
import types
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import published
import tsadeval as te
from naive import published as as_published
from naive import tapr
from naive import vus as naive_vus
from tsadeval import metrics as ours
from tsadeval.core.events import Events

ERRATA = Path(__file__).resolve().parents[1] / "docs" / "errata.md"


class Claim(NamedTuple):
    item: float  # 12.5 is the paragraph before 13, 0 the last section
    printed: str
    compute: Callable[[], float]
    needs: str = ""
    bound: bool = False  # the number is an upper bound, not the value


CLAIMS: list[Claim] = []

# Numbers that are inputs, parameters or other people's statements, by item (0 is the last section).
GIVEN: dict[float, set[str]] = {
    1: {"1e-8"},
    2: {"1e-8", "1e-9", ".1", ".2", ".9", ".8", ".7"},
    4: {".1", ".9"},
    5: {"1.0375", "1e-5"},
    7: {".3", ".4", ".6"},
    10: {"0.95", "0.75", "0.65", "0.55"},
    12.5: {"1e-9"},
    13: {".1"},
    14: {".1"},
    18: {".5"},
    20: {".9375"},
    21: {".5"},
    23: {".5"},
    26: {"1e-9"},
    34: {"1e-5"},
    37: {".7", ".3", ".8"},
}


def claim(item: float, *printed: str, needs: str = "", bound: bool = False) -> Callable[[Callable[[], Any]], None]:
    """The numbers that a function returns, in this order."""

    def add(compute: Callable[[], Any]) -> None:
        once = cache(compute)
        for place, text in enumerate(printed):
            value = once if len(printed) == 1 else (lambda place=place: once()[place])
            CLAIMS.append(Claim(item, text, value, needs, bound))

    return add


def bits(text: str) -> np.ndarray:
    return np.array([int(c) for c in text])


def number(printed: str) -> float:
    return float(printed.replace(",", ""))


def precision(printed: str) -> float:
    """Half a unit of the last digit that is printed."""
    mantissa, _, exponent = printed.partition("e")
    digits = len(mantissa.partition(".")[2])
    return 0.5000001 * 10.0 ** (int(exponent or 0) - digits)


def holds(one: Claim) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the peers, some of which say what they return
        value, printed = float(one.compute()), number(one.printed)
    return value <= printed if one.bound else abs(value - printed) <= precision(one.printed)


def missing(one: Claim) -> str:
    """Why a claim cannot be checked here, or nothing."""
    for need in filter(None, one.needs.split()):
        if need in ("published", "compared"):
            if not published.SHARED.is_dir():
                return "the published values are not part of the repository"
            if need == "compared" and importlib.util.find_spec("pytest") is None:
                return "pytest is not installed, whose tests know how to compare them"
        else:
            try:
                PEERS[need]()
            except ImportError as error:
                return f"{need} is not installed: {error}"
    return ""


# The peers. Each is imported when first asked for, and prints what it prints into nothing.


@cache
def collection() -> Any:
    """The metrics of the package cce, whose one use of torch is to ask whether labels are a tensor."""
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        sys.modules["torch"] = types.ModuleType("torch")
        sys.modules["torch"].Tensor = type("Tensor", (), {})
    found = importlib.import_module("metrics.basic_metrics")
    return found.basic_metricor


@cache
def author_tapr() -> tuple[Any, Any, Any]:
    """The authors' TaPR and eTaPR as they are bundled with cce."""
    collection()
    names = ("eTaPR_pkg.tapr", "eTaPR_pkg.etapr", "eTaPR_pkg.DataManage.Range")
    tapr, etapr, ranges = (importlib.import_module(name) for name in names)
    return tapr, etapr, ranges.Range


def module(name: str) -> Callable[[], Any]:
    return cache(lambda: importlib.import_module(name))


@cache
def timeeval_metrics() -> Any:
    """The metrics of TimeEval, without its `__init__`, which imports Dask, Docker and more for runs on clusters."""
    found = importlib.util.find_spec("timeeval")
    if found is None or found.submodule_search_locations is None:
        raise ImportError("no module named timeeval")
    package = sys.modules.setdefault("timeeval", types.ModuleType("timeeval"))
    package.__path__ = list(found.submodule_search_locations)
    return importlib.import_module("timeeval.metrics")


PEERS: dict[str, Callable[[], Any]] = {
    "cce": collection,
    "aeon": module("aeon.benchmarking.metrics.anomaly_detection"),
    "dtaianomaly": module("dtaianomaly.evaluation"),
    "faster-etapr": module("faster_etapr"),
    "PATE": module("pate.PATE_metric"),
    "tadpak": module("tadpak.pak"),
    "timeeval": timeeval_metrics,
    "TSB-AD": module("TSB_AD.evaluation.basic_metrics"),
    "tsadmetrics": module("tsadmetrics.metrics"),
    "vus": module("vus.utils.metrics"),
}


def quiet(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def cce_package(name: str, y: Any, s: Any, *preds: Any) -> Any:
    y = bits(y) if isinstance(y, str) else y
    preds = tuple(bits(p) if isinstance(p, str) else p for p in preds)
    s = preds[0].astype(float) if s is None else s
    return quiet(getattr(collection()(), name), y, s, *preds)


def tsadmetrics(path: str, y: str, p: str, **options: Any) -> float:
    where, name = path.rsplit(".", 1)
    metric = getattr(importlib.import_module(f"tsadmetrics.metrics.{where}"), name)(**options)
    return float(quiet(metric.compute, bits(y), bits(p)))


def ranges_of(y: str) -> list[Any]:
    found = Events.of(bits(y))
    make = author_tapr()[2]
    return [make(int(a), int(b) - 1, "") for a, b in zip(found.starts, found.stops, strict=True)]


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
    moved = s.copy()
    moved[0], moved[-1] = -1e-5, 1 + 1e-5
    return [change(y, s, moved), change(y, s / 1000, moved / 1000)]


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
    from test_rankeval_published import SHORT, compared

    return np.array([abs(mine - theirs) for _, mine, theirs in compared(label, tuple(SHORT))])


def noisy_accurate(label: str) -> np.ndarray:
    from test_rankeval_published import SHORT, compared

    rows = [row for row in compared(label, tuple(SHORT)) if row[0].generator == "AccQ" and row[0].sigma]
    return np.array([abs(mine - theirs) for _, mine, theirs in rows])


claim(10, "52", "46", needs="compared")(lambda: [len(noisy_accurate(x)) for x in ("eTaPR", "Aff-F1")])
claim(10, "1e-15", needs="compared", bound=True)(lambda: max(noisy_accurate(x).max() for x in ("eTaPR", "Aff-F1")))
claim(12, "182")(lambda: len(Events.of(published.labels_of("100k-200seg-50L"))))
EXACT = ("F1", "F1-PA", "Reduced-F1")
NEAR = ("CCE", "AUC-ROC", "eTaPR", "Aff-F1")
claim(12.5, "265", "261", "286", needs="compared")(lambda: [len(differences(label)) for label in EXACT])
claim(12.5, "0.0", needs="compared", bound=True)(lambda: max(differences(label).max() for label in EXACT))
claim(12.5, "277", "281", "246", "269", needs="compared")(lambda: [len(differences(label)) for label in NEAR])
claim(12.5, "1e-15", needs="compared", bound=True)(lambda: max(np.nanmax(differences(label)) for label in NEAR))

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
    from test_rankeval_published import SHORT, compared

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


# Peers

claim(20, "1.0025", needs="cce")(
    lambda: author_tapr()[0].compute(ranges_of("101"), ranges_of("001"), 0.0, 0.5, 1)["TaP"]
)
ZONE = "1" * 8 + "0" * 16, "0" * 8 + "1" * 15 + "0"
claim(20, "0", needs="cce")(
    lambda: author_tapr()[0].compute(ranges_of(ZONE[0]), ranges_of(ZONE[1]), 1.0, 0.9375, 14)["TaRd"]
)


claim(20, "7.5")(lambda: tapr.overlap((0, 8), 15, (8, 23)))
claim(20, "1")(lambda: ours.tapr(bits(ZONE[0]), bits(ZONE[1]), alpha=1.0, theta=0.9375, delta=15).recall)


@claim(20, ".5", ".5", needs="cce faster-etapr")
def _() -> list[float]:
    authors = author_tapr()[1].evaluate_w_ranges(ranges_of("10"), ranges_of("01"), theta_p=0.0, theta_r=0.0, delta=0)
    faster = PEERS["faster-etapr"]().evaluate_from_preds(bits("01"), bits("10"), theta_p=0.0, theta_r=0.0)
    assert authors["eTaP"] == authors["eTaR"] == faster["eta/precision"]
    return [authors["eTaP"], faster["eta/recall"]]


NORMALIZED = "tem.tstm.NormalizedAffiliationbasedFScore"
claim(21, "-5.0", "6.5e15", needs="tsadmetrics")(
    lambda: [tsadmetrics(NORMALIZED, y, p, alpha=0.5) for y, p in (("01", "10"), ("01011", "10100"))]
)
claim(21, "-.5556")(lambda: ours.normalized_affiliation_f1(bits("01"), bits("10")))
claim(22, "2.0", "0.0", needs="tsadmetrics")(
    lambda: [tsadmetrics("tem.dpm.MeanTimeToDetect", "100", p) for p in ("001", "000")]
)
claim(23, "2.5", ".556", "0", needs="aeon")(
    lambda: [
        PEERS["aeon"]().range_f_score(bits("1000"), bits("1000"), beta=0.5),
        PEERS["aeon"]().range_f_score(bits("1000"), bits("1000"), beta=3),
        PEERS["aeon"]().range_f_score(bits("1"), bits("1")),
    ]
)
claim(23, "0", needs="aeon")(lambda: PEERS["aeon"]().roc_auc_score(bits("01"), np.array([0.5, 0.5])))


def tsb_ad(name: str, y: str, p: str) -> float:
    return float(quiet(getattr(PEERS["TSB-AD"]().basic_metricor(), name), bits(y), bits(p) * 1.0, preds=bits(p)))


claim(24, "0", ".667", "0", needs="TSB-AD")(
    lambda: [
        tsb_ad("metric_EventF1PA", "001", "001"),
        tsb_ad("metric_PointF1PA", "110", "010"),
        tsb_ad("metric_RF1", "01", "11"),
    ]
)
claim(24, ".667")(lambda: ours.range_f1(bits("01"), bits("11")))


@claim(25, "50", needs="tadpak")
def _() -> int:
    """29 of 50 points: the adjusted prediction has all 50."""
    y = np.repeat([0, 1, 0], [5, 50, 5])
    return int(PEERS["tadpak"]().pak(np.where(np.arange(60) < 34, y, 0), y, 0.5, k=58).sum())


PATE_CASE = bits("11101100"), np.array([6.0, 0, 7, 1, 4, 3, 5, 2])


def pate_package(shift: float) -> float:
    options = {"e_buffer": 0, "d_buffer": 0, "Big_Data": True, "num_desired_thresholds": 10}
    found = PEERS["PATE"]().PATE
    return float(quiet(found, PATE_CASE[0], PATE_CASE[1] + shift, num_splits_MaxBuffer=1, include_zero=True, **options))


claim(26, ".80298", ".81631", needs="PATE")(lambda: [pate_package(0), pate_package(1000)])
claim(26, ".81631", ".81631")(
    lambda: [ours.pate(PATE_CASE[0], PATE_CASE[1] + k, early=0, delay=0, n_thresholds=10) for k in (0, 1000)]
)


@claim(26, "307", "1", "3.4e-9", needs="published")
def _() -> list[float]:
    """Of the sample on synthetic label sets: how many there are, how many are off, and by how much."""
    found = []
    for case, *model, value in published.published_values("PATE"):
        y = published.labels_of(case)
        found.append(abs(ours.pate(y, published.scores_of(y, *model), n_thresholds=100) - value))
    return [len(found), int(np.sum(np.array(found) > 1e-9)), max(found)]


@claim(26, "1.3e-7", needs="compared")
def _() -> float:
    from test_rankeval_published import compared

    return max(abs(mine - theirs) for _, mine, theirs in compared("PATE", ("PSM",), 1))


claim(27, ".86971", needs="timeeval")(
    lambda: PEERS["timeeval"]().RangeRocAUC(buffer_size=2)(bits("101"), bits("001") * 1.0)
)
claim(27, ".82159")(
    lambda: ours.range_auc_roc(bits("101"), bits("001"), window=2, variant="timeeval", n_thresholds=None)
)


@claim(28, ".83839")
def _() -> float:
    """FF-VUS is no package; its fault is written out: the two events stay apart at the last width."""
    y, s = [1, 0, 1], [1.0, 0.0, 0.0]
    widths = [naive_vus.areas(y, s, 0, None, "ff_vus"), naive_vus.areas(y, s, 2, None, "ff_vus", merge="never")]
    return sum(pr for _, pr in widths) / 2


claim(28, ".85059")(lambda: ours.vus_pr(bits("101"), bits("100"), window=1, variant="ff_vus", n_thresholds=None))


def slice_of(variant: str) -> list[float]:
    y, s = bits("0100"), bits("1100")
    return [f(y, s, window=2, variant=variant) for f in (ours.range_auc_roc, ours.range_auc_pr)]


claim(29, ".93613", ".92678", needs="vus")(
    lambda: PEERS["vus"]().metricor().RangeAUC(bits("0100"), bits("1100") * 1.0, window=2, plot_ROC=True)[:2]
)
claim(29, ".93613", ".92678")(lambda: slice_of("range_auc"))
claim(29, ".94466", ".85355")(lambda: slice_of("vus"))
claim(31, "0", needs="tsadmetrics")(lambda: tsadmetrics("tem.ptdm.TotalDetectedInRange", "01", "10", k=2))
claim(31, ".5", needs="tsadmetrics")(lambda: tsadmetrics("tem.ptdm.DetectionAccuracyInRange", "001", "010", k=1))
claim(31, "1", "1")(
    lambda: [
        ours.total_detected_in_range(bits("01"), bits("10"), tolerance=2),
        ours.detection_accuracy_in_range(bits("001"), bits("010"), tolerance=1),
    ]
)
claim(32, "64", needs="tsadmetrics")(lambda: tsadmetrics("tem.tmem.TemporalDistance", "1001", "0000", distance=1))
CENTRE = "tem.tmem.AbsoluteDetectionDistance"
claim(33, "0", ".5", "0", needs="tsadmetrics")(
    lambda: [tsadmetrics(CENTRE, y, p) for y, p in (("11", "10"), ("11", "01"), ("10", "00"))]
)
claim(33, ".25", ".25")(lambda: [ours.absolute_detection_distance(bits("11"), bits(p)) for p in ("10", "01")])
SPARSITY = "tem.dpm.LatencySparsityawareFScore"
claim(34, ".99999", ".999997", "0", needs="tsadmetrics")(
    lambda: [
        tsadmetrics(SPARSITY, y, p, ni=batch)
        for y, p, batch in (("10", "10", 1), ("10101", "10000", 2), ("10001", "00010", 5))
    ]
)
claim(34, ".5", "1")(
    lambda: [
        ours.latency_sparsity_f1(bits(y), bits(p), batch=batch)
        for y, p, batch in (("10101", "10000", 2), ("10001", "00010", 5))
    ]
)


@claim(37, "1", needs="dtaianomaly")
def _() -> bool:
    """Is it NaN?"""
    peer = PEERS["dtaianomaly"]()
    best = peer.BestThresholdMetric(peer.AffiliationFBeta())
    return math.isnan(quiet(best.compute, bits("001"), np.array([0.7, 0.3, 0.8])))


claim(37, "1")(lambda: te.best_threshold("affiliation_f1", bits("001"), [0.7, 0.3, 0.8]).value)

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
    for one in CLAIMS:
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
