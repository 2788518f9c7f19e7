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
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.categories import SeriesFacts
from tsadeval.core.arrays import as_scores
from tsadeval.core.events import Events
from tsadeval.core.inputs import Bools, Floats, label_runs
from tsadeval.core.names import did_you_mean, printable
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.rankeval.suites.adversaries import ADVERSARIES
from tsadeval.tables.files import table_files
from tsadeval.tables.reading import read_table
from tsadeval.tables.table import Table
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
    """A submission as it lies in its folder, which is called `key`."""

    key: str
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

    title: str
    about: str
    metrics: tuple[str, ...]
    rule: str
    labels: Mapping[str, Path]
    submissions: tuple[Submission, ...]
    problems: tuple[str, ...]


def _read_toml(path: Path, known: tuple[str, ...]) -> dict[str, Any]:
    """Read a TOML file that has none but known keys."""
    where = printable(path)
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(f"{where}: there is no such file") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{where}: not a TOML file ({printable(error)})") from None
    for key in found:
        if key not in known:
            raise InvalidInputError(f"{where}: unknown key: {did_you_mean(key, list(known))}")
    return found


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def labels_digest(labels: NDArray[Any]) -> str:
    """Return the SHA-256 of labels, one byte a point: 0 or 1."""
    return hashlib.sha256(np.ascontiguousarray(labels, np.uint8).tobytes()).hexdigest()


def read_labels(path: Path) -> tuple[Bools, Floats | None]:
    """Read the labels of a series, and the series itself where the file has it."""
    table = read_table(path)
    labels = _checked(table, "label", label_runs).mask
    return labels, np.asarray(table.numbers("value"), np.float64) if "value" in table else None


def read_scores(path: Path) -> Floats:
    """Read the scores in a file as 64-bit floats, if these hold them; NaN where missing."""
    return np.asarray(_checked(read_table(path), "score", as_scores), np.float64)


def _checked(table: Table, name: str, check: Callable[[Any, str], Any]) -> Any:
    """Check a column; errors name the file."""
    values = table.numbers(name)
    try:
        return check(values, name)
    except InvalidInputError as error:
        raise InvalidInputError(f"{table.source}: {error}") from None


def _find_series(folder: Path, kind: str) -> dict[str, Path]:
    """Find the files of series by name: the path below the folder without the suffix."""
    found: dict[str, Path] = {}
    for path in table_files(folder):
        name = path.relative_to(folder)
        series = (name.parent / Path(name.name.removesuffix(".gz")).stem).as_posix()
        if found.setdefault(series, path) != path:
            raise InvalidInputError(f"{printable(folder)}: two files of series {printable(series)!r}")
    if not found:
        raise InvalidInputError(f"{printable(folder)}: expected {kind} files in this folder, found none")
    return found


def _read_submission(folder: Path) -> Submission:
    """Read a submission, or raise an error that says what is missing in its description."""
    about = _read_toml(folder / "about.toml", REQUIRED + OPTIONAL)
    where = printable(folder / "about.toml")
    for key in REQUIRED:
        if key not in about:
            raise InvalidInputError(f"{where}: {key} is missing; needed are {', '.join(REQUIRED)}")
    for key, value in about.items():
        if not isinstance(value, str) or (key in REQUIRED and not value.strip()):
            raise InvalidInputError(f"{where}: {key} must be a text")
    name = about["name"]
    if name != name.strip() or not name.isprintable():  # two that look alike would be two rows
        raise InvalidInputError(
            f"{where}: name must be one line of printable characters without blanks around it, but is {printable(name)}"
        )
    if name in BASELINES:
        raise InvalidInputError(f"{where}: {name!r} is the name of a baseline; choose another")
    scores = _find_series(folder / "scores", "score")
    return Submission(folder.name, about, scores, _read_digests(folder / "labels.sha256"))


def _read_digests(path: Path) -> dict[str, str]:
    """Read the checksums of labels by series; none where there is no such file."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines() if path.is_file() else []
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        match = re.fullmatch(r"([0-9a-f]{64})\s+\*?(\S.*)", line)
        if match is not None:
            found[match[2]] = match[1]
        elif line:
            raise InvalidInputError(f'{printable(path)}, line {number}: expected "checksum  series"')
    return found


def read_board(folder: str | Path) -> Board:
    """Read a board with all submissions that can be read; the others are in `problems`."""
    folder = Path(folder)
    labels = _find_series(folder / "labels", "label")
    path = folder / "board.toml"
    settings = _read_toml(path, BOARD_KEYS) if path.exists() else {}
    found: dict[str, Submission] = {}
    problems = []
    for path in sorted(path for path in (folder / "submissions").glob("*") if path.is_dir()):
        try:
            one = _read_submission(path)
        except InvalidInputError as error:
            problems.append(f"{path.name}: {error}")
            continue
        if (other := found.setdefault(one.name, one)) is not one:
            raise InvalidInputError(f"submissions {other.key} and {one.key} have the same name {one.name!r}")
    # The recommended metrics first, then those of the paper: the tables of a board have a column for each.
    first = [str(metric) for name in ("recommended", "paper") for metric in select_metrics(name)]
    metrics = map(str, select_metrics(settings.get("metrics", "all")))
    return Board(
        str(settings.get("title", "Leaderboard")),
        str(settings.get("about", "")),
        tuple(sorted(metrics, key=lambda text: first.index(text) if text in first else len(first))),
        str(parse_rule(settings.get("threshold", "best"))),
        labels,
        tuple(found.values()),
        tuple(problems),
    )


def check_submission(folder: str | Path, board: str | Path | None = None) -> list[str]:
    """Say what is wrong with a submission, a line each; with a board, also whether its scores fit the labels.

    Lines that start with "note:" do not keep a submission from being taken.
    """
    try:
        found = _read_submission(Path(folder))
        labels = {} if board is None else _find_series(Path(board, "labels"), "label")
    except InvalidInputError as error:
        return [str(error)]
    lines = []
    for series, path in found.scores.items():
        try:
            scores = read_scores(path)
        except TsadevalError as error:
            lines.append(str(error))
            continue
        points = len(scores)
        if series in labels:
            truth = read_labels(labels[series])[0]
            points = len(truth)
            if found.label_digests.get(series) not in (None, labels_digest(truth)):
                lines.append(f"{printable(path)}: {OTHER_LABELS}")
        elif labels:
            near = did_you_mean(series, list(labels))
            lines.append(f"{printable(path)}: the board has no series {printable(series)!r}: {near}")
        lost = np.count_nonzero(np.isnan(scores))
        note = f"note: {lost} points have no score and are left out" if lost else ""
        if text := score_problem(scores, points) or note:
            lines.append(f"{printable(path)}: {text}")
    absent = [series for series in labels if series not in found.scores]
    if absent:
        lines.append(
            f"note: no scores for {len(absent)} of {len(labels)} series ({_some(absent)}): these count as worst"
        )
    return lines


def score_problem(scores: Floats, points: int) -> str:
    """Say why scores of a series of so many points cannot be judged; "" where they can."""
    lost = np.isnan(scores)
    if len(scores) != points:
        return f"{len(scores)} scores, but the series has {points} points"
    if np.isinf(scores).any():
        return "scores must be finite, but some are infinite"
    if lost.all():
        return "no point has a score"
    much = lost.mean() > GAPS
    return f"{lost.mean():.1%} of the points have no score; at most {GAPS:.0%} may be missing" if much else ""


def _some(names: list[str]) -> str:
    return ", ".join(map(printable, names[:3])) + ", ..." * (len(names) > 3)


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
    """Read all series of a board by name."""
    found = {}
    for name, path in board.labels.items():
        labels, values = read_labels(path)
        facts, strip = SeriesFacts.of(labels), _strip(Events.of(labels))
        found[name] = SeriesLabels(file_digest(path), labels_digest(labels), facts, strip, values is not None)
    return found


def _strip(events: Events) -> list[tuple[float, float]]:
    starts, widths = events.starts / events.n, np.maximum(events.lengths / events.n, THIN)
    step = max(1, len(events) // SHOWN)
    return [(round(float(a), 5), round(float(w), 5)) for a, w in zip(starts[::step], widths[::step], strict=True)]


def without_other_labels(board: Board, series: Series) -> Board:
    """Leave out scores of no series, and those that, by checksums that came with them, belong to other labels."""
    kept: list[Submission] = []
    problems = list(board.problems)
    for one in board.submissions:
        known = {name: path for name, path in one.scores.items() if name in series}
        if extra := [name for name in one.scores if name not in known]:
            problems.append(f"{one.key}: the board has no series of {len(extra)} of its score files ({_some(extra)})")
        for name, digest in one.label_digests.items():
            if name in known and digest != series[name].labels_sha256:
                problems.append(f"{one.key}: {OTHER_LABELS} (series {printable(name)!r})")
                del known[name]
        kept.append(replace(one, scores=known))
    return replace(board, submissions=tuple(kept), problems=tuple(problems))
