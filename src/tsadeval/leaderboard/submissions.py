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

import hashlib
import io
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tsadeval.comparison.inference import SeriesFacts
from tsadeval.core.arrays import as_scores, numbers_with_gaps
from tsadeval.core.inputs import Bools, Events, Floats, label_runs
from tsadeval.core.metric import Metric
from tsadeval.core.names import did_you_mean, names_code, printable
from tsadeval.core.selection import select_metrics
from tsadeval.errors import InvalidInputError, TsadevalError
from tsadeval.rankeval.suites.audit import ADVERSARIES
from tsadeval.scores.scores import Scores
from tsadeval.tables.files import file_digest, table_files, write_whole
from tsadeval.tables.reading import read_table
from tsadeval.tables.sources import read_source, refuse_special, size_limit
from tsadeval.thresholds.rules import parse_rule

REQUIRED = ("name", "author", "training")
# Rows of their own on every board: scorers without skill, and one-liners.
BASELINES = tuple(name for name, one in ADVERSARIES.items() if one.kind in ("no skill", "one-liner"))
OPTIONAL = ("paper", "code", "description", "date", "protocol")
BOARD_KEYS = ("title", "about", "metrics", "threshold")
# A submission may leave out so large a share of the points of a series; with more missing it has no value there.
GAPS = 0.01
# Events of a series that its picture shows, and the least width of one, as a share of the series.
SHOWN, THIN = 400, 0.0015
OTHER_LABELS = "labels.sha256 has another checksum: the scores belong to other labels than those of the board"


@dataclass(frozen=True)
class Submission:
    """A submission as it lies in its folder, which is called `key`; `labels` has checksums of the labels it is for."""

    key: str
    about: Mapping[str, str]
    scores: Mapping[str, Path]
    labels: Mapping[str, str]

    @property
    def name(self) -> str:
        """The detector's name."""
        return self.about["name"]


class SeriesLabels(NamedTuple):
    """What is known of a series: its file, checksums of file and labels, facts, and where its events are.

    `strip` has the events as shares of the length: start and width. `valued` says whether the file has the series
    itself beside the labels.
    """

    path: Path
    file_sha256: str
    labels_sha256: str
    facts: SeriesFacts
    strip: list[tuple[float, float]]
    valued: bool


Series = Mapping[str, SeriesLabels]


@dataclass(frozen=True)
class Board:
    """A board: series, submissions, and what its page says. `problems` names what was left out, and why."""

    title: str
    about: str
    metrics: Mapping[str, Metric]
    rule: str
    series: Series
    submissions: tuple[Submission, ...]
    problems: tuple[str, ...]


def _read_toml(path: Path, known: tuple[str, ...]) -> dict[str, Any]:
    """Read a TOML file that has none but known keys."""
    where = printable(path)
    try:
        found = tomllib.loads(read_source(path, size_limit()).decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidInputError(f"{where}: not a TOML file ({printable(error)})") from None
    for key in found:
        if key not in known:
            raise InvalidInputError(f"{where}: unknown key: {did_you_mean(key, list(known))}")
    return found


def labels_digest(labels: NDArray[Any]) -> str:
    """Return the SHA-256 of labels, one byte a point: 0 or 1."""
    return hashlib.sha256(np.ascontiguousarray(labels, np.uint8).tobytes()).hexdigest()


def read_labels(path: Path) -> tuple[Bools, Floats | None]:
    """Read the labels of a series, and the series itself where the file has it."""
    table = read_table(path)
    labels = label_runs(table.numbers("label"), f"{table.source}: label").mask
    return labels, np.asarray(table.numbers("value"), np.float64) if "value" in table else None


def read_scores(path: Path, points: int | None = None) -> Floats:
    """Read scores as 64-bit floats, NaN where missing; refuse those that cannot be judged on a series of `points`."""
    table = read_table(path)
    scores = np.asarray(as_scores(table.numbers("score"), f"{table.source}: score"), np.float64)
    lost = np.isnan(scores)
    problems = (
        (points not in (None, len(scores)), f"{len(scores)} scores, but the series has {points} points"),
        (np.isinf(scores).any(), "scores must be finite, but some are infinite"),
        (lost.all(), "no point has a score"),
        (lost.mean() > GAPS, f"{lost.mean():.1%} of the points have no score; at most {GAPS:.0%} may be missing"),
    )
    for wrong, text in problems:
        if wrong:
            raise InvalidInputError(f"{printable(path)}: {text}")
    return scores


def _find_files(folder: Path, kind: str) -> dict[str, Path]:
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
    for path in (folder, *folder.rglob("*")):
        if path.is_symlink():  # whatever it leads to would be published under the board's name
            raise InvalidInputError(f"{printable(path)}: is a link; a submission must hold the file or folder itself")
        if path.exists() and not path.is_dir():
            refuse_special(path, printable(path))
    about = _read_toml(folder / "about.toml", REQUIRED + OPTIONAL)
    name, where = about.get("name", ""), printable(folder / "about.toml")
    lacking = [key for key in REQUIRED if key not in about]
    odd = [key for key, text in about.items() if not isinstance(text, str) or (key in REQUIRED and not text.strip())]
    if lacking:
        raise InvalidInputError(f"{where}: {lacking[0]} is missing; needed are {', '.join(REQUIRED)}")
    if odd:
        raise InvalidInputError(f"{where}: {odd[0]} must be a text")
    if name != name.strip() or not name.isprintable():  # two that look alike would be two rows
        raise InvalidInputError(
            f"{where}: name must be one line of printable characters without blanks around it, but is {printable(name)}"
        )
    if name in BASELINES:
        raise InvalidInputError(f"{where}: {name!r} is the name of a baseline; choose another")
    scores = _find_files(folder / "scores", "score")
    return Submission(folder.name, about, scores, _read_digests(folder / "labels.sha256"))


def _read_digests(path: Path) -> dict[str, str]:
    """Read the checksums of labels by series; none where there is no such file."""
    lines = read_source(path, size_limit()).decode(errors="replace").splitlines() if path.is_file() else []
    found = {}
    for number, line in enumerate(map(str.strip, lines), 1):
        match = re.fullmatch(r"([0-9a-f]{64})\s+\*?(\S.*)", line)
        if match is not None:
            found[match[2]] = match[1]
        elif line:
            raise InvalidInputError(f'{printable(path)}, line {number}: expected "checksum  series"')
    return found


def read_series(folder: Path) -> dict[str, SeriesLabels]:
    """Read all series of a folder of labels, by name."""
    found = {}
    for name, path in _find_files(folder, "label").items():
        labels, values = read_labels(path)
        facts, strip = SeriesFacts.of(labels), _strip(Events.of(labels))
        found[name] = SeriesLabels(path, file_digest(path), labels_digest(labels), facts, strip, values is not None)
    return found


def _strip(events: Events) -> list[tuple[float, float]]:
    starts, widths = events.starts / events.n, np.maximum(events.lengths / events.n, THIN)
    step = max(1, len(events) // SHOWN)
    return [(round(float(a), 5), round(float(w), 5)) for a, w in zip(starts[::step], widths[::step], strict=True)]


def read_board(folder: str | Path) -> Board:
    """Read a board with all submissions and scores that can be judged; the others are in `problems`."""
    folder = Path(folder)
    series = read_series(folder / "labels")
    path = folder / "board.toml"
    settings = _read_toml(path, BOARD_KEYS) if path.exists() else {}
    for key in ("metrics", "threshold"):
        if names_code(str(settings.get(key, ""))):
            raise InvalidInputError(
                f"{path}: {key} names code (module:name), which a file cannot: name a metric or rule of tsadeval"
            )
    found: dict[str, Submission] = {}
    problems: list[str] = []
    for path in sorted(path for path in (folder / "submissions").glob("*") if path.is_dir()):
        try:
            one = _read_submission(path)
        except InvalidInputError as error:
            problems.append(f"{path.name}: {error}")
            continue
        if one.name in found:
            other = found[one.name].key
            raise InvalidInputError(f"submissions {other} and {one.key} have the same name {one.name!r}")
        extra = [name for name in one.scores if name not in series]
        strange = [name for name in one.scores if name in series and _is_of_others(one, name, series)]
        if extra:
            problems.append(f"{one.key}: the board has no series of {len(extra)} of its score files ({_some(extra)})")
        problems += [f"{one.key}: {OTHER_LABELS} (series {printable(name)!r})" for name in strange]
        scores = {name: path for name, path in one.scores.items() if name not in {*extra, *strange}}
        found[one.name] = replace(one, scores=scores)
    # The recommended metrics first, then those of the paper: the tables of a board have a column for each.
    first = [str(metric) for name in ("recommended", "paper") for metric in select_metrics(name)]
    metrics = {str(metric): metric for metric in select_metrics(settings.get("metrics", "all"))}
    return Board(
        str(settings.get("title", "Leaderboard")),
        str(settings.get("about", "")),
        {text: metrics[text] for text in sorted(metrics, key=[*first, *metrics].index)},
        str(parse_rule(settings.get("threshold", "best"))),
        series,
        tuple(found.values()),
        tuple(problems),
    )


def _is_of_others(one: Submission, name: str, series: Series) -> bool:
    """Return True if, by a checksum that came with them, scores belong to other labels than those of the board."""
    return one.labels.get(name, series[name].labels_sha256) != series[name].labels_sha256


def check_submission(folder: str | Path, board: str | Path | None = None) -> list[str]:
    """Say what is wrong with a submission, a line each; with a board, also whether its scores fit the labels.

    Lines that start with "note:" do not keep a submission from being taken.
    """
    try:
        found = _read_submission(Path(folder))
        known = {} if board is None else read_series(Path(board, "labels"))
    except TsadevalError as error:
        return [str(error)]
    lines = []
    for name, path in found.scores.items():
        where = printable(path)
        try:
            lost = np.count_nonzero(np.isnan(read_scores(path, known[name].facts.n if name in known else None)))
            lines += [f"{where}: note: {lost} points have no score and are left out"] * bool(lost)
        except TsadevalError as error:
            lines.append(str(error))
        if name in known and _is_of_others(found, name, known):
            lines.append(f"{where}: {OTHER_LABELS}")
        if known and name not in known:
            lines.append(f"{where}: the board has no series {printable(name)!r}: {did_you_mean(name, list(known))}")
    absent = [name for name in known if name not in found.scores]
    if absent:
        lines.append(
            f"note: no scores for {len(absent)} of {len(known)} series ({_some(absent)}): these count as worst"
        )
    return lines


def import_scores(scores: Scores, folder: str | Path, *, author: str, training: str) -> list[str]:
    """Write the labels and a submission of each detector into a board; return what was written, a line each.

    What the board has already stays: a submission of the same name is refused, and so are other labels of a series.
    """
    folder = Path(folder)
    series, names = list(scores.by_series()), scores.detectors
    keys = {name: re.sub(r"[^\w.-]+", "_", name).strip("._") or "_" for name in names}
    for i, (name, key) in enumerate(keys.items()):
        if (folder / "submissions" / key).exists() or key in list(keys.values())[:i]:
            raise InvalidInputError(f"{printable(folder / 'submissions' / key)}: is there already (detector {name!r})")
    files: dict[Path, dict[str, Any]] = {}
    for one in series:
        place = PurePosixPath(f"{one.name or 'series'}.npz")
        if place.is_absolute() or ".." in place.parts or not str(place).isprintable():
            raise InvalidInputError(f"series {one.name!r} is no path below the board: rename it, e.g. with --by")
        path, columns = folder / "labels" / place, {"label": np.asarray(one.y_true, np.uint8)}
        if path.exists() and not np.array_equal(read_labels(path)[0], columns["label"]):
            raise InvalidInputError(f"{printable(path)}: the board has other labels of this series")
        valued = one.values is not None and np.ndim(one.values) == 1
        files |= {} if path.exists() else {path: columns | ({"value": np.asarray(one.values)} if valued else {})}
        for name, found in one.detectors.items():
            given = numbers_with_gaps(found.given.y_score, "y_score", "a one-dimensional sequence of numbers")
            files[folder / "submissions" / keys[name] / "scores" / place] = {"score": given}
    for path, arrays in files.items():
        content = io.BytesIO()
        np.savez_compressed(content, **arrays)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.getvalue())
    for name, key in keys.items():
        about = {"name": name, "author": author, "training": training}
        text = "".join(f"{field} = {json.dumps(value)}\n" for field, value in about.items())
        write_whole(folder / "submissions" / key / "about.toml", text.encode())
    counts = {name: sum(name in one.detectors for one in series) for name in names}
    return [f"submissions/{keys[name]}: {count} of {len(series)} series" for name, count in counts.items()]


def _some(names: list[str]) -> str:
    return ", ".join(map(printable, names[:3])) + ", ..." * (len(names) > 3)
