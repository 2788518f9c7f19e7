"""`tsadeval leaderboard build`: write the static site from labels and score files."""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

import tsadeval
from tsadeval._optional import require
from tsadeval.comparison.standings import Data
from tsadeval.core.metric import PROPERTIES
from tsadeval.core.names import FORMULA, TEXT
from tsadeval.core.results import cell_text
from tsadeval.engine.progress import Progress
from tsadeval.leaderboard.board import (
    SUBMISSION,
    Standings,
    Table,
    agreement,
    compute_values,
    first_group,
    metric_facts,
    places,
    rank_all,
    unusable,
)
from tsadeval.leaderboard.submissions import GAPS, Board, read_board
from tsadeval.rankeval import read
from tsadeval.reports.html import address, as_json, page, source
from tsadeval.tables.files import write_whole

Page = tuple[str, str, Data]  # path, template, and what it shows
STYLES = ("base.css", "site.css")
SCRIPTS = ("common.js", "board.js")
PREFERRED = ("vus_pr", "ears", "cce")


def build_site(
    folder: str | Path,
    output: str | Path,
    *,
    rankeval: Iterable[str | Path] = (),
    n_jobs: int | None = None,
    progress: bool | Progress | None = None,
) -> Board:
    """Build the site of a board; what earlier builds into the same output have computed is used again.

    Parameters
    ----------
    folder : path
        The board: `labels/`, `submissions/` and, optionally, `board.toml` (see `tsadeval.leaderboard.submissions`).
    output : path
        Where the site goes. It works from a file and from any folder of a server.
    rankeval : paths
        Stores of RankEval, whose tables become the board of metrics.
    n_jobs : int, optional
        Worker processes, -1 for all cores; by default threads of this process, as many as there are cores.
    progress : bool or function
        As for `te.rankeval.run`.

    Returns
    -------
    Board
        What was read; `problems` names the submissions and score files that were left out.
    """
    board, output = read_board(folder), Path(output)
    values = compute_values(board, output / "values", n_jobs=n_jobs, progress=progress)
    table = Table.of(board, values)
    board = replace(board, problems=(*board.problems, *unusable(values)))
    ranked = rank_all(table, output / "values" / "standings")
    written = set()
    for name, content in _Site(board, table, values, ranked, [_board_of_metrics(one) for one in rankeval]).files():
        _write(output / name, content)
        written.add(name)
    _sweep(output, written)
    return board


def _write(path: Path, content: str | bytes) -> None:
    """Write a file of the site; one that is the same stays as it is."""
    raw = content.encode() if isinstance(content, str) else content
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_bytes() != raw:
        write_whole(path, raw, durable=False)  # thousands of pages, and the next build writes what is missing


def _sweep(output: Path, written: set[str]) -> None:
    """Remove the files that an earlier build wrote and this one did not: pages of what is no longer there.

    A list in the site says which files are ours; nothing else is touched.
    """
    path = output / "values" / "files.json"
    before = set()
    with suppress(OSError, ValueError, TypeError):
        before = {name for name in json.loads(path.read_bytes()) if isinstance(name, str)}
    for name in before - written:
        lost = output / name
        if output.resolve() in lost.resolve().parents:  # whatever the list says, never beyond the site
            lost.unlink(missing_ok=True)
            with suppress(OSError):  # not empty
                lost.parent.rmdir()
    write_whole(path, json.dumps(sorted(written), indent=0).encode(), durable=False)


class _Site:
    """The files of a site."""

    def __init__(
        self, board: Board, table: Table, values: Any, ranked: Mapping[str, Standings], boards: Sequence[Data]
    ) -> None:
        self.board, self.table, self.values, self.ranked, self.boards = board, table, values, ranked, boards
        self.facts = {text: metric_facts(table, metric) for text, metric in board.metrics.items()}
        self.agreement = agreement(
            self.ranked, [text for text, m in self.board.metrics.items() if m.direction == "lower"]
        )
        none = np.array(None)  # JSON has no NaN
        self.shown = [np.where(np.isfinite(one), np.round(one, 6), none).tolist() for one in table.values.values()]
        # Paths of pages are those of the files they are about, so that they stay the same from build to build.
        keys = {one.name: one.key for one in board.submissions}
        self.paths = {
            "detectors": {d: address(keys.get(d, f"baseline/{d}")) for d in table.kinds},
            "series": {s: address(s) for s in table.series},
            "metrics": {m: address(m.replace("/", "|")) for m in board.metrics},
        }

    def files(self) -> Iterator[tuple[str, str | bytes]]:
        """Yield path and content of every file."""
        yield "assets/site.css", "\n".join(map(source, STYLES))
        yield "assets/site.js", "\n".join(map(source, SCRIPTS))
        yield "data/board.js", f"window.BOARD = {as_json(self._data())};\n"
        for metric, groups in self.ranked.items():
            text = as_json({"metric": metric, "groups": groups})
            yield f"data/standings/{self.paths['metrics'][metric]}.js", f"window.STANDINGS({text});\n"
        yield from self._downloads()
        for path, template, context in chain(self._tops(), self._detectors(), self._series(), self._metrics()):
            # `root` leads from a page to the top of the site.
            shared = {"root": "../" * path.count("/"), "site": self.board.title, "rankeval": bool(self.boards)}
            yield path, page(template, **shared, **context)

    def _data(self) -> Data:
        """Return what all pages share."""
        table, paths = self.table, self.paths
        first = next((m for m in PREFERRED if m in self.board.metrics), next(iter(self.board.metrics)))
        return {
            "title": self.board.title,
            "metrics": [
                {"name": text, "label": m.label, "lower": m.direction == "lower", "path": paths["metrics"][text],
                 "summary": m.summary.replace("`", ""), **self.facts[text]}
                for text, m in self.board.metrics.items()
            ],
            "detectors": self._scorers,
            "series": [
                {"name": s, "path": paths["series"][s], **one.facts._asdict()} for s, one in table.series.items()
            ],
            "groups": {name: len(members) for name, members in table.groups.items()},
            "first": first,
            "first_group": first_group(table, self.ranked[first]),
            "agreement": self.agreement,
        }  # fmt: skip

    @property
    def _scorers(self) -> list[Data]:
        return [{"name": d, "kind": kind, "path": self.paths["detectors"][d]} for d, kind in self.table.kinds.items()]

    def _downloads(self) -> Iterator[tuple[str, bytes]]:
        """Yield all raw values, and what each stands on."""
        compute = require("pyarrow.compute", extra="all")
        columns = ["detector", "kind", "series", "metric", "value", "rule", "threshold", "alarms", "alarmed_points"]
        more = ["n", "events", "status", "message", "labels", "scores", "versions"]
        file = BytesIO()
        require("pyarrow.parquet", extra="all").write_table(self.values.select([*columns, *more]), file)
        yield "data/values.parquet", file.getvalue()
        table = self.values.select(columns)
        for name in ("value", "threshold"):  # what is not a number is left empty in csv
            known = compute.if_else(compute.is_nan(table[name]), None, table[name])
            table = table.set_column(columns.index(name), name, known)
        for name in ("detector", "series"):
            plain = compute.replace_substring_regex(table[name].cast("string"), FORMULA, TEXT)
            table = table.set_column(columns.index(name), name, plain)
        file = BytesIO()
        require("pyarrow.csv", extra="all").write_csv(table, file)
        yield "data/values.csv", file.getvalue()

    def _tops(self) -> Iterator[Page]:
        """Yield the board, how the numbers were made, and the board of metrics."""
        board, series = self.board, self.table.series
        real = sum(kind == SUBMISSION for kind in self.table.kinds.values())
        points = sum(one.facts.n for one in series.values())
        subtitle = (
            f"{real} detectors on {len(series)} series with {points:,} points, by "
            f"{len(self.board.metrics)} metrics; all values are computed from the published scores."
        )
        yield "index.html", "board.html.j2", {"title": board.title, "subtitle": subtitle, "about": board.about}
        yield "about.html", "about.html.j2", {
            "title": "How this board is made", "version": tsadeval.__version__, "rule": board.rule,
            "gaps": f"{GAPS:.0%}", "problems": board.problems,
            "digests": [(name, one.labels_sha256) for name, one in series.items()],
        }  # fmt: skip
        if self.boards:
            context = {"title": "Board of metrics", "boards": self.boards, "metrics": self.paths["metrics"]}
            yield "rankeval.html", "rankeval.html.j2", context

    def _detectors(self) -> Iterator[Page]:
        """Yield a page for every submission and every baseline."""
        about = {one.name: one for one in self.board.submissions}
        files = {(row["detector"], row["series"]): row for row in self.table.scorings}
        nothing = {"scores": "", "status": "", "message": None}
        for j, (name, kind) in enumerate(self.table.kinds.items()):
            mine = {s: files.get((name, s), nothing) for s in self.table.series}
            data = {
                "rows": [
                    {"name": s, "path": self.paths["series"][s], "sha256": row["scores"],
                     "message": row["message"] if row["status"] == "missing" else None}
                    for s, row in mine.items()
                ],
                "standings": places(self.ranked, j),
                "values": [[row[j] for row in shown] for shown in self.shown],
            }  # fmt: skip
            yield f"detectors/{self.paths['detectors'][name]}.html", "detector.html.j2", {
                "title": name, "kind": kind, "submission": about.get(name), "series": len(self.table.series),
                "data": as_json(data),
            }  # fmt: skip

    def _series(self) -> Iterator[Page]:
        """Yield a page for every series."""
        for i, (name, labels) in enumerate(self.table.series.items()):
            data = as_json({"rows": self._scorers, "values": [shown[i] for shown in self.shown]})
            context = {"title": name, "labels": labels, "data": data}
            yield f"series/{self.paths['series'][name]}.html", "series.html.j2", context

    def _metrics(self) -> Iterator[Page]:
        """Yield a page for every metric."""
        for (text, record), row in zip(self.board.metrics.items(), self.agreement, strict=True):
            near = [(m, v) for m, v in zip(self.board.metrics, row, strict=True) if v is not None and m != text]
            yield f"metrics/{self.paths['metrics'][text]}.html", "metric.html.j2", {
                "title": record.label,
                "metric": record,
                "properties": [PROPERTIES.get(p, p) for p in sorted(record.properties)],
                "definition": inspect.getdoc(record.function) or "",
                "game": self.facts[text],
                "near": [
                    (self.board.metrics[m].label, self.paths["metrics"][m], v)
                    for m, v in sorted(near, key=lambda item: -item[1])
                ],
                "data": as_json({"metric": text}),
            }  # fmt: skip


def _board_of_metrics(folder: str | Path) -> Data:
    """Return the tables of a store of RankEval, as text, and what they stand on."""
    made: Any = read(folder).table()
    title, _, about = made._lead().partition(": ")
    grids = ((name, [[cell_text(cell) for cell in row] for row in grid]) for name, grid in made._grids())
    tables = [{"title": name, "head": head, "rows": rows} for name, (head, *rows) in grids]
    return {"title": title, "about": about, "notes": made._notes(), "tables": tables}
