"""The numbers of docs/errata.md about other packages."""

import math

import numpy as np

import published
import tsadeval as te
from errata_tools import PEERS, author_tapr, bits, claim, quiet, ranges_of, tsadmetrics
from naive import tapr
from naive import vus as naive_vus
from tsadeval import metrics as ours

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
    from published_values import compared

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
