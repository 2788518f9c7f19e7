"""What `peers.py` compares: our call of each metric, and the peers that have it, with our parameters."""

import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

PACKAGES = ("scikit-learn", "aeon", "cce", "faster-etapr", "PATE", "prts", "tadpak", "tsadmetrics", "vus")


@dataclass(frozen=True)
class Data:
    """Labels with events of 50 points, one in 2,000 points; noisy scores; alarms on the highest 5 % of them."""

    y: Any
    s: Any
    p: Any

    @classmethod
    def of(cls, n):
        rng = np.random.default_rng(0)
        y = np.zeros(n, np.int64)
        for start in range(0, max(n - 1950, 1), 2000):
            at = start + int(rng.integers(100, 1850)) if n >= 2000 else n // 2
            y[at : at + 50] = 1
        s = rng.normal(size=n) + 1.5 * y
        return cls(y, s, (s > np.quantile(s, 0.95)).astype(np.int64))


Call = Callable[[Data], Any]


class Peer(NamedTuple):
    package: str
    make: Callable[[], Call]  # imports the package
    note: str = ""


def function(path, of, *args, pick=None, **options):
    """Makes the call `module:name(labels, scores or predictions, ...)`."""

    def make():
        module, name = path.split(":")
        f = partial(getattr(import_module(module), name), **options)
        return lambda d: pick(f(d.y, getattr(d, of), *args)) if pick else f(d.y, getattr(d, of), *args)

    return make


def sklearn(name, of="p", note=""):
    return Peer("scikit-learn", function(f"sklearn.metrics:{name}", of), note)


def aeon(name, of, note="", **options):
    return Peer("aeon", function(f"aeon.benchmarking.metrics.anomaly_detection:{name}", of, **options), note)


def tsadmetrics(path, of="p", note="", **options):
    def make():
        module, name = path.rsplit(".", 1)
        metric = getattr(import_module(f"tsadmetrics.metrics.{module}"), name)(**options)
        return lambda d: metric.compute(d.y, getattr(d, of))

    return Peer("tsadmetrics", make, note)


def cce(name, pick=0, note="", given=True):
    """A method of the package's collection, at given predictions or at the best of its thresholds."""

    def make():
        # Its one use of torch is to ask whether labels are a tensor: several GB less to install.
        if "torch" not in sys.modules:
            sys.modules["torch"] = types.ModuleType("torch")
            sys.modules["torch"].Tensor = type("Tensor", (), {})
        # It keeps the bias of labels it has seen, so it is made anew for every call.
        collection = import_module("metrics.basic_metrics").basic_metricor

        def call(d):
            method = getattr(collection(), name)
            found = method(d.y, d.s) if given is None else method(d.y, d.s, d.p if given else None)
            return found if pick is None else found[pick]

        return call

    return Peer("cce", make, note)


def best_f1_of_curve():
    from sklearn.metrics import precision_recall_curve

    def call(d):
        precision, recall, _ = precision_recall_curve(d.y, d.s)
        with np.errstate(invalid="ignore"):
            return np.nanmax(2 * precision * recall / (precision + recall))

    return call


def tadpak_f1():
    from sklearn.metrics import f1_score
    from tadpak.pak import pak

    return lambda d: f1_score(d.y, pak(d.p, d.y, 0.5, k=20))


def faster_etapr():
    from faster_etapr import evaluate_from_preds

    return lambda d: evaluate_from_preds(d.p, d.y, theta_p=0.5, theta_r=0.1)["eta/f1"]


def vus(name, *args, pick, **options):
    def make():
        method = getattr(import_module("vus.utils.metrics").metricor(), name)
        return lambda d: method(d.y, d.s, *args, **options)[pick]

    return make


def vus_affiliation():
    from vus.affiliation.generics import convert_vector_to_events
    from vus.affiliation.metrics import pr_from_events

    def call(d):
        found = pr_from_events(convert_vector_to_events(d.p), convert_vector_to_events(d.y), (0, len(d.y)))
        precision, recall = found["Affiliation_Precision"], found["Affiliation_Recall"]
        return 2 * precision * recall / (precision + recall)

    return call


def ours(text, of):
    def make():
        from tsadeval.core.metric import parse_metric

        metric = parse_metric(text)
        return lambda d: metric(d.y, getattr(d, of))

    return make


def ours_together(*names):
    def make():
        import tsadeval as te

        return lambda d: list(te.evaluate(d.y, d.s, names).values())

    return make


def ours_best(name):
    def make():
        import tsadeval as te

        return lambda d: te.best_threshold(name, d.y, d.s).value

    return make


SAMPLED = "best of 100 thresholds; ours is exact over all of them"
BOTH = ours_together("vus_roc", "vus_pr")

# What is compared: our call, and the peers that have the metric, with our parameters.
CONTESTS: dict[str, tuple[Callable[[], Call], list[Peer]]] = {
    "cce": (
        ours("cce", "s"),
        [cce("metric_CCE", None, "adds 1e-8 in denominators", given=None)],
    ),
    "auc_roc": (
        ours("auc_roc", "s"),
        [
            sklearn("roc_auc_score", "s"),
            tsadmetrics("spm.PointwiseAucRoc", "s"),
            aeon("roc_auc_score", "s"),
            cce("metric_ROC", None, given=None),
        ],
    ),
    "auc_pr": (
        ours("auc_pr", "s"),
        [
            sklearn("average_precision_score", "s"),
            tsadmetrics("spm.PointwiseAucPr", "s"),
            aeon("pr_auc_score", "s", "trapezoid"),
            cce("metric_PR", None, given=None),
        ],
    ),
    "best_f1": (ours("best_f1", "s"), [Peer("scikit-learn", best_f1_of_curve)]),
    "precision_at_k": (ours("precision_at_k", "s"), [tsadmetrics("spm.PrecisionAtK", "s")]),
    "precision": (ours("precision", "p"), [sklearn("precision_score")]),
    "recall": (ours("recall", "p"), [sklearn("recall_score")]),
    "f1": (ours("f1", "p"), [sklearn("f1_score"), tsadmetrics("spm.PointwiseFScore")]),
    "accuracy": (ours("accuracy", "p"), [sklearn("accuracy_score")]),
    "balanced_accuracy": (ours("balanced_accuracy", "p"), [sklearn("balanced_accuracy_score")]),
    "mcc": (ours("mcc", "p"), [sklearn("matthews_corrcoef")]),
    "f1_pa": (ours("f1_pa", "p"), [tsadmetrics("tem.tpdm.PointadjustedFScore"), cce("metric_PointF1PA")]),
    "f1_pa_k": (ours("f1_pa_k", "p"), [tsadmetrics("tem.ptdm.PointadjustedAtKFScore", k=0.2)]),
    "f1_pa_k(strict=True)": (ours("f1_pa_k(strict=True)", "p"), [Peer("tadpak", tadpak_f1)]),
    "pa_k_auc": (
        ours("pa_k_auc", "p"),
        [cce("metric_PA_percentile_K", note="at k = 0 it credits events without any alarm")],
    ),
    "f1_pa_delay": (ours("f1_pa_delay", "p"), [tsadmetrics("tem.dpm.DelayThresholdedPointadjustedFScore", k=8)]),
    "reduced_f1": (ours("reduced_f1", "p"), [cce("metric_Reduced_F1")]),
    "range_f1": (
        ours("range_f1", "p"),
        [
            Peer("prts", function("prts:ts_fscore", "p", r_alpha=0.2, cardinality="reciprocal")),
            tsadmetrics("tem.tpdm.RangebasedFScore", p_alpha=0.0, r_alpha=0.2, cardinality_mode="reciprocal"),
            aeon("range_f_score", "p", r_alpha=0.2),
            cce("metric_RF1", None, "ranges are one point too long"),
        ],
    ),
    "range_precision": (
        ours("range_precision", "p"),
        [Peer("prts", function("prts:ts_precision", "p", cardinality="reciprocal"))],
    ),
    "range_recall": (
        ours("range_recall", "p"),
        [Peer("prts", function("prts:ts_recall", "p", alpha=0.2, cardinality="reciprocal"))],
    ),
    "etapr_f1": (
        ours("etapr_f1", "p"),
        [
            Peer("faster-etapr", faster_etapr, "computes some more beside"),
            tsadmetrics("tem.tmem.EnhancedTimeseriesAwareFScore", theta_p=0.5, theta_r=0.1),
            cce("metric_eTaPR_F1"),
        ],
    ),
    "tapr_f1": (
        ours("tapr_f1", "p"),
        [
            tsadmetrics("tem.ptdm.TimeseriesAwareFScore", alpha=0.6, theta=0.8, delta=599),
            cce("metric_TaPR_F1", note="zones are one point longer"),
        ],
    ),
    "affiliation_f1": (
        ours("affiliation_f1", "p"),
        [
            Peer("vus", vus_affiliation, "the affiliation authors' engine"),
            tsadmetrics("tem.tstm.AffiliationbasedFScore"),
            cce("metric_Affiliation"),
        ],
    ),
    "normalized_affiliation_f1": (
        ours("normalized_affiliation_f1", "p"),
        [
            tsadmetrics("tem.tstm.NormalizedAffiliationbasedFScore", alpha=0.5),
            cce("metric_N_Affiliation_f1_pre_rec"),
        ],
    ),
    "unbiased_affiliation_f1": (
        ours("unbiased_affiliation_f1", "p"),
        [cce("metric_U_Affiliation_f1_pre_rec", note="estimates the bias by three unseeded random draws")],
    ),
    "event_f1": (ours("event_f1", "p"), [tsadmetrics("tem.tpdm.SegmentwiseFScore")]),
    "composite_f1": (ours("composite_f1", "p"), [tsadmetrics("tem.tpdm.CompositeFScore")]),
    "detection_delay": (
        ours("detection_delay", "p"),
        [tsadmetrics("tem.dpm.MeanTimeToDetect", note="a missed event takes the next alarm after it")],
    ),
    "nab_score": (ours("nab_score", "p"), [tsadmetrics("tem.dpm.NabScore")]),
    "range_auc_roc + range_auc_pr": (
        ours_together("range_auc_roc", "range_auc_pr"),
        [Peer("vus", vus("RangeAUC", window=100, plot_ROC=True, pick=slice(0, 2)))],
    ),
    "vus_roc + vus_pr": (BOTH, [Peer("vus", vus("RangeAUC_volume_opt", 200, pick=slice(4, 6)))]),
    "vus_roc": (ours("vus_roc", "s"), [tsadmetrics("tem.tstm.VusRoc", "s", window=200)]),
    "vus_pr": (
        ours("vus_pr", "s"),
        [
            tsadmetrics("tem.tstm.VusPr", "s", window=200),
            aeon("range_pr_vus_score", "s", "another definition: straight slopes, trapezoid", max_buffer_size=200),
        ],
    ),
    "pate": (
        ours("pate", "s"),
        [
            Peer("PATE", function("pate.PATE_metric:PATE", "s")),
            tsadmetrics("tem.tstm.Pate", "s", early=100, delay=100),
        ],
    ),
    "pate_f1": (
        ours("pate_f1", "p"),
        [
            Peer("PATE", function("pate.PATE_metric:PATE", "p", binary_scores=True)),
            tsadmetrics("tem.tstm.PateFScore", early=100, delay=100),
        ],
    ),
    "best threshold of f1_pa": (ours_best("f1_pa"), [cce("metric_PointF1PA", note=SAMPLED, given=False)]),
    "best threshold of range_f1": (
        ours_best("range_f1"),
        [cce("metric_RF1", None, f"{SAMPLED}; ranges are one point too long", given=False)],
    ),
    "best threshold of affiliation_f1": (
        ours_best("affiliation_f1"),
        [cce("metric_Affiliation", note=SAMPLED, given=False)],
    ),
}
