"""Scores that last: a detector is trained and asked once, and whoever has the file need not do it again.

A file `scores/<data set>/<detector>.npz` holds `scores`, `labels` and `provenance`, a JSON text that says which data
(by checksum), which detector, which machine and how long. So files made on another machine, with a GPU say, can be
copied into a store, and only judging is left to do. Nothing here needs the compiled kernels, pandas or pyarrow.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, is_zipfile

import numpy as np

from tsadeval.engine.cells import versions
from tsadeval.engine.store import write_whole
from tsadeval.errors import InvalidInputError
from tsadeval.experiments.specs import Entrant

if TYPE_CHECKING:
    from tsadeval.core.inputs import Bools, Floats
    from tsadeval.datasets import Dataset

__all__ = ["Kept", "all_scores", "keep_scores", "read_scores", "scores_path"]

# What a file says of itself; `dataset` is the name as the plan has it, with options.
_FACTS = {"dataset", "checksum", "detector", "seed", "fit_seconds", "score_seconds", "device", "versions"}


@dataclass(frozen=True, eq=False)
class Kept:
    """Scores, the labels they belong to, where they came from, and were they computed just now?"""

    scores: Floats
    labels: Bools
    provenance: Mapping[str, Any]
    fresh: bool = False


def scores_path(folder: str | Path, dataset: str, detector: str, seed: int | None = None) -> Path:
    """Where the scores of a detector on a data set are kept.

    Characters that file systems dislike become `_`, and long names are cut; a digest then keeps such names apart.

    >>> scores_path("store", "ucr/125", "lof(window=50)", 3).as_posix()
    'store/scores/ucr/125/lof(window=50).seed-3.npz'
    >>> scores_path("store", "a b", "lof").as_posix()
    'store/scores/a_b-c8687a08/lof.npz'
    """
    parts = [part for part in map(_file_name, re.split(r"[/\\]", dataset)) if part.strip(".")]
    if parts:
        parts[-1] = _told_apart(parts[-1], dataset, "/".join(parts))
    name = _told_apart(_file_name(detector), detector, _file_name(detector))
    return Path(folder, "scores", *parts, f"{name}{f'.seed-{seed}' if seed else ''}.npz")


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.,=()@+-]", "_", text)[:120]


def _told_apart(name: str, text: str, shown: str) -> str:
    """The name, with a digest of the text where the text is not what is shown of it."""
    return name if shown == text else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def keep_scores(
    dataset: Dataset, detector: Any, folder: str | Path, *, name: str | None = None, seed: int = 0, device: str = "auto"
) -> Kept:
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
    Kept
        `scores`, `labels`, `provenance`, and `fresh`: were they computed just now?
    """
    entrant = Entrant.of(detector, seed)
    name = dataset.name if name is None else name
    kept = read_scores(folder, name, dataset.description.checksum, entrant, dataset.test_labels)
    if kept is not None:
        return kept
    if dataset.train is None or dataset.test is None:
        raise InvalidInputError(f"{name} has labels only here, so no detector can be trained on it: add its features")
    made = entrant.make(device)
    start = time.perf_counter()
    made.fit(_own(dataset.train, entrant))
    between = time.perf_counter()
    scores = _checked(made.score(_own(dataset.test, entrant)), entrant.text, len(dataset.test_labels))
    provenance = {
        "dataset": name,
        "checksum": dataset.description.checksum,
        "detector": entrant.text,
        "seed": entrant.seed,
        "fit_seconds": between - start,
        "score_seconds": time.perf_counter() - between,
        "device": _device(made),
        "versions": _versions(),
    }
    path = scores_path(folder, name, entrant.text, entrant.seed)
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.savez_compressed(content, scores=scores, labels=dataset.test_labels, provenance=np.array(json.dumps(provenance)))
    write_whole(path, content.getvalue())
    return Kept(scores, dataset.test_labels, provenance, fresh=True)


def read_scores(
    folder: str | Path, dataset: str, checksum: str, entrant: Entrant, labels: Bools | None = None
) -> Kept | None:
    """The scores that are kept of a detector on a data set, None where there are none; other ones are refused.

    Where the labels of the data are given, those in the file must be the same: the checksum is what the file says.
    """
    path = scores_path(folder, dataset, entrant.text, entrant.seed)
    if not path.is_file():
        return None
    kept = _read(path)
    wanted = {"checksum": checksum, "detector": entrant.text, "seed": entrant.seed}
    for key, value in wanted.items():
        found = kept.provenance[key]
        if found != value:
            what = "other data" if key == "checksum" else f"another {key}"
            raise InvalidInputError(
                f"{path} holds scores of {what} ({key} {_short(found)}, expected {_short(value)} of {dataset}): "
                "move the file away to compute them anew, or use the data and options that it was made with"
            )
    if labels is not None and not np.array_equal(kept.labels, labels):
        raise InvalidInputError(f"{path} holds other labels than {dataset}: move the file away to compute it anew")
    return kept


def all_scores(folder: str | Path) -> Iterator[Kept]:
    """Everything that is kept in a store, by data set and detector."""
    for path in sorted(Path(folder, "scores").rglob("*.npz")):
        if path.is_file():  # a folder may be called after a file of the user's own
            yield _read(path)


def _read(path: Path) -> Kept:
    try:
        if not is_zipfile(path):  # NumPy would take it for a pickle, and advise to trust it
            raise ValueError("no npz file, or only a part of one")
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            scores, labels = arrays["scores"], arrays["labels"]
            provenance = json.loads(str(arrays["provenance"]))
        if not set(provenance) >= _FACTS:
            raise ValueError(f"its provenance lacks {', '.join(sorted(_FACTS - set(provenance)))}")
    except (ValueError, KeyError, TypeError, EOFError, BadZipFile) as error:
        raise InvalidInputError(f"{path} is not a file of kept scores ({error}); move it away") from None
    if labels.shape != scores.shape or labels.dtype != np.bool_:
        raise InvalidInputError(f"{path} has scores of shape {scores.shape} but labels of {labels.shape}; move it away")
    return Kept(_checked(scores, str(path), len(labels)), labels, provenance)


def _own(series: Floats, entrant: Entrant) -> Floats:
    """A guest may change what it gets, and the next detector, or its own scoring, must not see that."""
    return series if entrant.guest is None else series.copy()


def _checked(scores: Any, who: str, n: int) -> Floats:
    given = np.asarray(scores)
    if given.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{who}: expected one number for each point, but got {type(scores).__name__} of {given.dtype}"
        )
    array: Floats = given.astype(np.float64, copy=False)
    if array.shape != (n,):
        raise InvalidInputError(f"{who}: expected one score for each of {n} points, but their shape is {array.shape}")
    finite = np.isfinite(array)
    if not finite.all():
        raise InvalidInputError(
            f"{who}: expected finite scores, but the one at position {int(np.argmin(finite))} is "
            f"{array[~finite][0]} ({int((~finite).sum())} such scores in all)"
        )
    return array


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}..." if re.fullmatch("[0-9a-f]{64}", text) else text


def _device(detector: Any) -> str:
    """The machine part that did the work: the name of the GPU where a network lives on one, else of the processor."""
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
    """What did the work, with the libraries that are loaded."""
    libraries = {"sklearn": "scikit-learn", "torch": "torch"}
    found = [f"{title} {sys.modules[name].__version__}" for name, title in libraries.items() if name in sys.modules]
    return ", ".join([versions(), *found])
