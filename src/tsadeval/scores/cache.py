"""Cache of the scores that detectors give, checked: one .npz file per data set, detector and seed.

A file `scores/<data set>/<detector>.npz` holds `scores`, `labels` and `provenance`, a JSON text that says which data
(by checksum), which detector, which device and how long. So files made on another machine, with a GPU say, can be
copied into a store, and only the evaluation is left to do. Nothing here needs the compiled kernels, pandas or pyarrow.
"""

import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import is_zipfile

import numpy as np

from tsadeval.core.arrays import as_scores, read_array
from tsadeval.core.events import Bools, Floats
from tsadeval.errors import InvalidInputError
from tsadeval.tables.files import write_whole

# What a file says of itself; `dataset` is the name as the plan has it, with options.
_FACTS = {"dataset", "checksum", "detector", "seed", "fit_seconds", "score_seconds", "device", "versions"}


@dataclass(frozen=True, eq=False)
class CachedScores:
    """Scores, the labels they belong to, where they came from, and whether they were computed just now."""

    scores: Floats
    labels: Bools
    provenance: Mapping[str, Any]
    fresh: bool = False


def scores_path(folder: str | Path, dataset: str, detector: str, seed: int | None = None) -> Path:
    """Where the scores of a detector on a data set are kept.

    Characters that file systems do not allow become `_`, and long names are cut; a digest then keeps such names apart.

    >>> scores_path("store", "ucr/125", "lof(window=50)", 3).as_posix()
    'store/scores/ucr/125/lof(window=50).seed-3.npz'
    >>> scores_path("store", "a b", "lof").as_posix()
    'store/scores/a_b-c8687a08/lof.npz'
    """
    parts = [part for part in map(_file_name, re.split(r"[/\\]", dataset)) if part.strip(".")]
    if parts:
        parts[-1] = _add_digest(parts[-1], dataset, "/".join(parts))
    name = _add_digest(_file_name(detector), detector, _file_name(detector))
    return Path(folder, "scores", *parts, f"{name}{f'.seed-{seed}' if seed else ''}.npz")


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.,=()@+-]", "_", text)[:120]


def _add_digest(name: str, text: str, shown: str) -> str:
    """Return the name, with a digest of the text where the text is not what is shown of it."""
    return name if shown == text else f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def write_scores(folder: str | Path, scores: Floats, labels: Bools, provenance: Mapping[str, Any]) -> None:
    """Keep scores in a store, whole or not at all."""
    path = scores_path(folder, provenance["dataset"], provenance["detector"], provenance["seed"])
    path.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.savez_compressed(content, scores=scores, labels=labels, provenance=np.array(json.dumps(provenance)))
    write_whole(path, content.getvalue())


def read_scores(
    folder: str | Path, dataset: str, checksum: str, detector: str, seed: int | None, labels: Bools | None = None
) -> CachedScores | None:
    """Return the cached scores of a detector (its text) on a data set, or None; refuse those of other data.

    Where the labels of the data are given, those in the file must be the same: the checksum is what the file says.
    """
    path = scores_path(folder, dataset, detector, seed)
    if not path.is_file():
        return None
    kept = _read(path)
    wanted = {"checksum": checksum, "detector": detector, "seed": seed}
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


def all_scores(folder: str | Path) -> Iterator[CachedScores]:
    """All cached scores of a store, by data set and detector."""
    for path in sorted(Path(folder, "scores").rglob("*.npz")):
        if path.is_file():  # a folder may be called after a file of the user's own
            yield _read(path)


def _read(path: Path) -> CachedScores:
    try:
        if not is_zipfile(path):  # NumPy would take it for a pickle, and advise to trust it
            raise ValueError("no npz file, or only a part of one")
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            scores, labels = arrays["scores"], arrays["labels"]
            provenance = json.loads(str(arrays["provenance"]))
        if not set(provenance) >= _FACTS:
            raise ValueError(f"its provenance lacks {', '.join(sorted(_FACTS - set(provenance)))}")
    except Exception as error:  # a damaged archive raises a dozen types, from zlib's to OSError
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise InvalidInputError(f"{path} is not a file of cached scores ({reason}); move it away") from None
    if labels.shape != scores.shape or labels.dtype != np.bool_:
        raise InvalidInputError(f"{path} has scores of shape {scores.shape} but labels of {labels.shape}; move it away")
    return CachedScores(checked_scores(scores, str(path), len(labels)), labels, provenance)


def checked_scores(scores: Any, who: str, n: int) -> Floats:
    """One finite number for each point, or an error that names `who` gave something else."""
    given = read_array(scores, who, "one number for each point")
    if given.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{who}: expected one number for each point, but got {type(scores).__name__} of {given.dtype}"
        )
    if given.shape != (n,):
        hint = "; te.align(scores, n, window=w, how='mean') puts scores of windows on points" * (0 < given.size < n)
        raise InvalidInputError(
            f"{who}: expected one score for each of {n} points, but their shape is {given.shape}{hint}"
        )
    array: Floats = np.asarray(as_scores(given, who), np.float64)
    finite = np.isfinite(array)
    if not finite.all():
        raise InvalidInputError(
            f"{who}: expected finite scores, but the one at position {int(np.argmin(finite))} is "
            f"{array[~finite][0]} ({int((~finite).sum())} such scores in all); give every point a score"
        )
    return array


def _short(value: Any) -> str:
    text = str(value)
    return f"{text[:12]}..." if re.fullmatch("[0-9a-f]{64}", text) else text
