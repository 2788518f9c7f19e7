"""What the claims about docs/errata.md are made with: a record of each number, and the peers that they are about."""

import contextlib
import importlib
import importlib.util
import io
import sys
import types
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import published
from tsadeval.core.events import Events


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
    3: {"-5.1"},
    4: {".1", ".9", ".5"},
    5: {"1.0375", "1e-5", ".75", "1.75", "1.0075"},
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
    39: {".01", ".05", ".1", ".3"},
    40: {".1", ".9", ".8", ".7"},
    41: {"0.95", ".05", ".1", ".340"},
    42: {"3.47", "3.57", "1.41", "2.45", "-5.1", "32.21", "-0.21", "2.85", "2.82", "22.3"},
    44: {
        ".494",
        ".552",
        ".990",
        ".986",
        ".019",
        ".992",
        ".989",
        ".016",
        ".265",
        ".267",
        ".878",
        ".876",
    },  # of a run of minutes, and of their logs
    45: {"2.63"},
    # of a run of minutes
    46: {".980", ".989", ".1", ".789", ".805", ".915", ".927", ".925", ".894", ".895", ".987", ".990", "1.000"},
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
    if "torch" in sys.modules or importlib.util.find_spec("torch"):
        return importlib.import_module("metrics.basic_metrics").basic_metricor
    sys.modules["torch"] = types.ModuleType("torch")
    sys.modules["torch"].Tensor = type("Tensor", (), {})
    try:
        return importlib.import_module("metrics.basic_metrics").basic_metricor
    finally:
        del sys.modules["torch"]  # nothing else may take it for the real one


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
