"""Train a detector on a data set, score its test part and cache the scores.

Nothing here needs the compiled kernels, pandas or pyarrow, so that scores can be made on any machine.
"""

from __future__ import annotations

import platform
import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tsadeval.engine.cells import versions
from tsadeval.engine.scores import CachedScores, checked_scores, read_scores, write_scores
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.specs import DetectorSpec

if TYPE_CHECKING:
    from tsadeval.core.inputs import Floats
    from tsadeval.datasets import Dataset

__all__ = ["keep_scores"]


def keep_scores(
    dataset: Dataset, detector: Any, folder: str | Path, *, name: str | None = None, seed: int = 0, device: str = "auto"
) -> CachedScores:
    """Train a detector on a data set, score its test part and keep the scores; or read them where they are kept.

    Parameters
    ----------
    dataset : Dataset
        What `te.datasets.load` returned, with features.
    detector : str or detector
        "lof(window=50)", or an object with `fit(X)` and `score(X)`.
    folder : path
        The store: the file goes to its `scores/`.
    name : str, optional
        Of the data set in the store; its own by default.
    seed, device
        For a detector given by its name, as far as it takes them.

    Returns
    -------
    CachedScores
        `scores`, `labels`, `provenance`, and `fresh`: were they computed just now?
    """
    spec = DetectorSpec.of(detector, seed)
    name = dataset.name if name is None else name
    cached = read_scores(folder, name, dataset.description.checksum, spec.text, spec.seed, dataset.test_labels)
    if cached is not None:
        return cached
    if dataset.train is None or dataset.test is None:
        raise InvalidInputError(f"{name} has labels only here, so no detector can be trained on it: add its features")
    made = spec.make(device)
    start = time.perf_counter()
    made.fit(_own(dataset.train, spec))
    between = time.perf_counter()
    scores = checked_scores(made.score(_own(dataset.test, spec)), spec.title, len(dataset.test_labels))
    provenance = {
        "dataset": name,
        "checksum": dataset.description.checksum,
        "detector": spec.text,
        "seed": spec.seed,
        "fit_seconds": between - start,
        "score_seconds": time.perf_counter() - between,
        "device": _device(made),
        "versions": _versions(),
    }
    write_scores(folder, scores, dataset.test_labels, provenance)
    return CachedScores(scores, dataset.test_labels, provenance, fresh=True)


def _own(series: Floats, spec: DetectorSpec) -> Floats:
    """A user's detector may change its input, and the next detector, or its own scoring, must not see that."""
    return series if spec.instance is None else series.copy()


def _device(detector: Any) -> str:
    """Device name: of the GPU where the network is on one, else of the processor."""
    module: Any = getattr(detector, "module_", None)
    if hasattr(module, "parameters"):
        where = next(iter(module.parameters())).device
        if where.type == "cuda":
            return str(sys.modules["torch"].cuda.get_device_name(where))
    return _processor()


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    if about.is_file():
        found = re.search(r"^model name\s*:\s*(.+)$", about.read_text(), re.MULTILINE)
        if found:
            return found[1].strip()
    return platform.processor() or platform.machine()


def _versions() -> str:
    """Versions of tsadeval and of the libraries that are loaded."""
    libraries = {"sklearn": "scikit-learn", "torch": "torch"}
    found = [f"{title} {sys.modules[name].__version__}" for name, title in libraries.items() if name in sys.modules]
    return ", ".join([versions(), *found])
