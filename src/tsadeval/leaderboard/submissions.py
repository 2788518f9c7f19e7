"""Files of a leaderboard: reading and checking boards, submissions and series of labels.

    board/
      board.toml                       title, about, metrics, threshold (all optional)
      labels/GROUP/SERIES.npz          label (0 and 1), and value (the series) where it may be published
      submissions/NAME/about.toml      name, author, training; paper, code, description (optional)
      submissions/NAME/labels.sha256   optional: "checksum  GROUP/SERIES" a line, of the labels the scores belong to
      submissions/NAME/scores/GROUP/SERIES.npz    score, one for each point of the series

Every table may be npz, Parquet or any other kind that tsadeval reads. Labels are those of the board; submissions bring
scores only, and everything else is computed from these.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.inference import SeriesFacts
from tsadeval.core.arrays import as_scores
from tsadeval.core.events import Events
from tsadeval.core.inputs import Bools, Floats, label_runs
from tsadeval.core.metric import Metric
from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.rankeval.suites.adversaries import ADVERSARIES
from tsadeval.tables import read_table, table_files
from tsadeval.thresholds.rules import parse_rule

REQUIRED = ("name", "author", "training")
# Rows of their own on every board: scorers without skill, and one-liners.
BASELINES = tuple(name for name, one in ADVERSARIES.items() if one.kind in ("no skill", "one-liner"))
OPTIONAL = ("paper", "code", "description", "date", "protocol")
BOARD_KEYS = ("title", "about", "metrics", "threshold")
# A submission may leave out so large a share of the points of a series; with more missing it has no value there.
GAPS = 0.01
OTHER_LABELS = "labels.sha256 has another checksum: the scores belong to other labels than those of the board"


@dataclass(frozen=True)
class Submission:
    """A submission as it lies in its folder."""

    key: str
    folder: Path
    about: Mapping[str, str]
    scores: Mapping[str, Path]
    label_digests: Mapping[str, str]

    @property
    def name(self) -> str:
        """The detector's name."""
        return self.about["name"]


@dataclass(frozen=True)
class Board:
    """A board: labels, submissions, and what its page says. `problems` are submissions that were left out, and why."""

    folder: Path
    title: str
    about: str
    metrics: tuple[str, ...]
    rule: str
    labels: Mapping[str, Path]
    submissions: tuple[Submission, ...]
    problems: tuple[str, ...] = field(default=())


def _toml(path: Path) -> dict[str, Any]:
    try:
        with open(path, "rb") as file:
            return dict(tomllib.load(file))
    except FileNotFoundError:
        raise InvalidInputError(f"{printable(path)}: there is no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{printable(path)}: not a TOML file ({printable(error)})") from None


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def labels_digest(labels: NDArray[Any]) -> str:
    """SHA-256 of labels, one byte a point: 0 or 1."""
    return hashlib.sha256(np.ascontiguousarray(labels, np.uint8).tobytes()).hexdigest()


def read_labels(path: Path) -> tuple[Bools, Floats | None]:
    """The labels of a series, and the series itself where the file has it."""
    table = read_table(path)
    try:
        labels = label_runs(table.numbers("label"), "label").mask
    except InvalidInputError as error:
        raise _of_file(path, error) from None
    return labels, np.asarray(table.numbers("value"), np.float64) if "value" in table else None


def read_scores(path: Path) -> Floats:
    """The scores in a file as 64-bit floats, if these hold them; NaN where missing."""
    scores = read_table(path).numbers("score")
    try:
        return np.asarray(as_scores(scores, "score"), np.float64)
    except InvalidInputError as error:
        raise _of_file(path, error) from None


def _of_file(path: Path, error: InvalidInputError) -> InvalidInputError:
    """The error, with the name of the file, which some have already."""
    where = printable(path)
    return error if str(error).startswith(where) else InvalidInputError(f"{where}: {error}")


def _series_of(folder: Path) -> dict[str, Path]:
    """Series by name: the path below the folder without the suffix."""
    found: dict[str, Path] = {}
    for path in table_files(folder) if folder.is_dir() else []:
        name = path.relative_to(folder)
        stem = re.sub(r"\.gz$", "", name.name)
        series = (name.parent / Path(stem).stem).as_posix()
        if series in found:
            raise InvalidInputError(f"{printable(folder)}: two files of series {printable(series)!r}")
        found[series] = path
    return found


def _submission(folder: Path) -> Submission:
    """A submission, or an error that says what is missing in its description."""
    about = _toml(folder / "about.toml")
    where = printable(folder / "about.toml")
    for key in REQUIRED:
        if key not in about:
            raise InvalidInputError(f"{where}: {key} is missing; needed are {', '.join(REQUIRED)}")
    for key, value in about.items():
        if key not in REQUIRED + OPTIONAL:
            raise InvalidInputError(f"{where}: unknown key: {did_you_mean(key, list(REQUIRED + OPTIONAL))}")
        if not isinstance(value, str) or (key in REQUIRED and not value.strip()):
            raise InvalidInputError(f"{where}: {key} must be a text")
    name = about["name"]
    if name != name.strip() or not name.isprintable():  # two that look alike would be two rows
        raise InvalidInputError(
            f"{where}: name must be one line of printable characters without blanks around it, but is {printable(name)}"
        )
    if name in BASELINES:
        raise InvalidInputError(f"{where}: {name!r} is the name of a baseline; choose another")
    scores = _series_of(folder / "scores")
    if not scores:
        raise InvalidInputError(f"{printable(folder / 'scores')}: expected score files in this folder, found none")
    return Submission(folder.name, folder, about, scores, _digests(folder / "labels.sha256"))


def _digests(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    found = {}
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        match = re.fullmatch(r"([0-9a-f]{64})\s+\*?(\S.*)", line.strip())
        if line.strip() and match is None:
            raise InvalidInputError(f'{printable(path)}, line {number}: expected "checksum  series"')
        if match is not None:
            found[match[2]] = match[1]
    return found


def read_board(folder: str | Path) -> Board:
    """A board with all submissions that can be read; the others are in `problems`."""
    folder = Path(folder)
    labels = _series_of(folder / "labels")
    if not labels:
        raise InvalidInputError(f"{printable(folder / 'labels')}: expected label files in this folder, found none")
    settings = _toml(folder / "board.toml") if (folder / "board.toml").exists() else {}
    for key in settings:
        if key not in BOARD_KEYS:
            raise InvalidInputError(
                f"{printable(folder / 'board.toml')}: unknown key: {did_you_mean(key, list(BOARD_KEYS))}"
            )
    found, problems = [], []
    for path in sorted(path for path in (folder / "submissions").glob("*") if path.is_dir()):
        try:
            found.append(_submission(path))
        except InvalidInputError as error:
            problems.append(f"{path.name}: {error}")
    names: dict[str, str] = {}
    for one in found:
        if one.name in names:
            raise InvalidInputError(f"submissions {names[one.name]} and {one.key} have the same name {one.name!r}")
        names[one.name] = one.key
    return Board(
        folder,
        str(settings.get("title", "Leaderboard")),
        str(settings.get("about", "")),
        _ordered(select_metrics(settings.get("metrics", "all"))),
        str(parse_rule(settings.get("threshold", "best"))),
        labels,
        tuple(found),
        tuple(problems),
    )


def _ordered(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The recommended metrics first, then those of the paper: the tables of a board have a column for each."""
    first = [str(m) for name in ("recommended", "paper") for m in select_metrics(name)]
    given = [str(m) for m in metrics]
    return tuple(sorted(given, key=lambda text: first.index(text) if text in first else len(first)))


def check_submission(folder: str | Path, board: str | Path | None = None) -> list[str]:
    """What is wrong with a submission, a line each; with a board, also whether its scores fit the labels.

    Lines that start with "note:" do not keep a submission from being taken.
    """
    try:
        found = _submission(Path(folder))
        labels = _series_of(Path(board, "labels")) if board is not None else {}
    except InvalidInputError as error:
        return [str(error)]
    lines = []
    for series, path in found.scores.items():
        try:
            scores = read_scores(path)
        except TsadevalError as error:
            lines.append(str(error))
            continue
        lines += [f"{printable(path)}: {text}" for text in _score_problems(scores)]
        if board is not None:
            lines += [f"{printable(path)}: {text}" for text in _label_problems(series, scores, labels, found)]
    absent = [series for series in labels if series not in found.scores]
    if absent:
        shown = ", ".join(map(printable, absent[:3])) + (", ..." if len(absent) > 3 else "")
        lines.append(f"note: no scores for {len(absent)} of {len(labels)} series ({shown}): these count as worst")
    return lines


def _score_problems(scores: Floats) -> list[str]:
    lost = np.isnan(scores)
    if np.isinf(scores).any():
        return ["scores must be finite, but some are infinite"]
    if lost.all():
        return ["no point has a score"]
    if lost.mean() > GAPS:
        return [f"{lost.mean():.1%} of the points have no score; at most {GAPS:.0%} may be missing"]
    return [f"note: {int(lost.sum())} points have no score and are left out"] if lost.any() else []


def _label_problems(series: str, scores: Floats, labels: Mapping[str, Path], found: Submission) -> list[str]:
    if series not in labels:
        return [f"the board has no series {printable(series)!r}: {did_you_mean(series, list(labels))}"]
    truth = read_labels(labels[series])[0]
    if len(truth) != len(scores):
        return [f"{len(scores)} scores, but the series has {len(truth)} points"]
    if series in found.label_digests and found.label_digests[series] != labels_digest(truth):
        return [OTHER_LABELS]
    return []


# The series of a board: what their label files say, each read once for a build.


# Events of a series that its picture shows, and the least width of one, as a share of the series.
SHOWN, THIN = 400, 0.0015


class SeriesLabels(NamedTuple):
    """What is known of a series: checksums of its file and of its labels, facts, and where its events are.

    `strip` has the events as shares of the length: start and width. `valued` says whether the file has the series
    itself beside the labels.
    """

    file_sha256: str
    labels_sha256: str
    facts: SeriesFacts
    strip: list[tuple[float, float]]
    valued: bool


Series = Mapping[str, SeriesLabels]


def read_series(board: Board) -> dict[str, SeriesLabels]:
    """All series of a board by name."""
    found = {}
    for name, path in board.labels.items():
        labels, values = read_labels(path)
        found[name] = SeriesLabels(
            file_digest(path),
            labels_digest(labels),
            SeriesFacts.of(labels),
            _strip(Events.of(labels)),
            values is not None,
        )
    return found


def _strip(events: Events) -> list[tuple[float, float]]:
    starts, widths = events.starts / events.n, np.maximum(events.lengths / events.n, THIN)
    step = max(1, len(events) // SHOWN)
    return [(round(float(a), 5), round(float(w), 5)) for a, w in zip(starts[::step], widths[::step], strict=True)]
