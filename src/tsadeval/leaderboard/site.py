"""`tsadeval leaderboard build`: write the static site from labels and score files."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.inputs import Floats
from tsadeval.core.metric import PROPERTIES, Metric, parse_metric
from tsadeval.core.names import printable
from tsadeval.engine.progress import Progress
from tsadeval.leaderboard.board import (
    SUBMISSION,
    Ranked,
    Table,
    agreement,
    codes,
    compute_values,
    first_group,
    places,
    rank_all,
)
from tsadeval.leaderboard.submissions import GAPS, OTHER_LABELS, Board, Series, Submission, read_board, read_series
from tsadeval.reports.html import address, as_json, page, source
from tsadeval.tables.files import write_whole

Data = dict[str, Any]
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
        What was read; `problems` names the submissions that were left out.
    """
    board = read_board(folder)
    output = Path(output)
    series = read_series(board)
    board = _of_other_labels(board, series)
    values = compute_values(board, series, output / "values", n_jobs=n_jobs, progress=progress)
    table = Table.of(board, series, values)
    ranked = rank_all(table, output / "values" / "ranks")
    site = _Site(board, output, series, table, ranked, list(rankeval))
    site.assets()
    site.downloads(values)
    site.index()
    site.detectors(values)
    site.series()
    site.metrics()
    site.about()
    site.sweep()
    return board


def _of_other_labels(board: Board, series: Series) -> Board:
    """The board without scores that, by the checksums that came with them, belong to other labels than its own."""
    kept: list[Submission] = []
    problems = list(board.problems)
    for one in board.submissions:
        known = {name: digest for name, digest in one.label_digests.items() if name in one.scores and name in series}
        other = [name for name, digest in known.items() if digest != series[name].labels_sha256]
        problems += [f"{one.key}: {OTHER_LABELS} (series {printable(name)!r})" for name in other]
        extra = [name for name in one.scores if name not in series]
        if extra:
            shown = ", ".join(map(printable, extra[:3])) + ", ..." * (len(extra) > 3)
            problems.append(f"{one.key}: the board has no series of {len(extra)} of its score files ({shown})")
        scores = {name: path for name, path in one.scores.items() if name in series and name not in other}
        kept.append(replace(one, scores=scores))
    return replace(board, submissions=tuple(kept), problems=tuple(problems))


class _Site:
    """The pages of a site."""

    def __init__(
        self,
        board: Board,
        output: Path,
        series: Series,
        table: Table,
        ranked: Mapping[str, Ranked],
        stores: Sequence[str | Path] = (),
    ) -> None:
        self.board, self.output, self.labels, self.table, self.ranked = board, output, series, table, ranked
        self.written: set[str] = set()
        self.rankeval = [_board_of_metrics(store) for store in stores]
        self.records = {text: parse_metric(text) for text in board.metrics}
        # Paths of pages are those of the files they are about, so that they stay the same from build to build.
        keys = {one.name: one.key for one in board.submissions}
        self.paths = {
            "detectors": {d: address(keys.get(d, f"baseline/{d}")) for d in table.detectors},
            "series": {s: address(s) for s in table.series},
            "metrics": {m: address(m.replace("/", "|")) for m in board.metrics},
        }
        lower = [text for text, record in self.records.items() if record.direction == "lower"]
        self.first = next((m for m in PREFERRED if m in self.records), board.metrics[0])
        self.agreement = agreement(ranked, lower)
        self.shown = [_six_digits(values) for values in table.values.values()]

    def write(self, name: str, text: str) -> None:
        """Write a file of the site; one that is the same stays as it is."""
        self._write(name, text.encode())

    def _write(self, name: str, content: bytes) -> None:
        self.written.add(name)
        path = self.output / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file() or path.read_bytes() != content:
            write_whole(path, content, durable=False)  # thousands of pages, and the next build writes what is missing

    def sweep(self) -> None:
        """Remove the files that an earlier build wrote and this one did not: pages of what is no longer there.

        A list in the site says which files are ours; nothing else is touched.
        """
        path = self.output / "values" / "files.json"
        try:
            before = {name for name in json.loads(path.read_bytes()) if isinstance(name, str)}
        except (OSError, ValueError, TypeError):
            before = set()
        root = self.output.resolve()
        for name in before - self.written:
            lost = self.output / name
            if root in lost.resolve().parents:  # whatever the list says, never beyond the site
                lost.unlink(missing_ok=True)
                with suppress(OSError):  # not empty
                    lost.parent.rmdir()
        write_whole(path, json.dumps(sorted(self.written), indent=0).encode(), durable=False)

    def page(self, path: str, template: str, **context: Any) -> None:
        """Write a page; `root` leads from it to the top of the site."""
        root = "../" * path.count("/")
        self.write(path, page(template, root=root, site=self.board.title, rankeval=bool(self.rankeval), **context))

    def assets(self) -> None:
        """Styles, scripts, and the data that all pages share."""
        self.write("assets/site.css", "\n".join(map(source, STYLES)))
        self.write("assets/site.js", "\n".join(map(source, SCRIPTS)))
        table = self.table
        data: Data = {
            "title": self.board.title,
            "metrics": [
                {"name": text, "label": r.label, "lower": r.direction == "lower", "path": self.paths["metrics"][text],
                 "summary": r.summary.replace("`", ""), **self.ranked[text].facts}
                for text, r in self.records.items()
            ],
            "detectors": [
                {"name": d, "kind": table.kinds[d], "path": self.paths["detectors"][d]} for d in table.detectors
            ],
            "series": [
                {"name": s, "path": self.paths["series"][s], **table.facts[s]._asdict()} for s in table.series
            ],
            "groups": {name: len(members) for name, members in table.groups.items()},
            "first": self.first,
            "first_group": first_group(table, self.ranked[self.first].groups),
            "agreement": self.agreement,
        }  # fmt: skip
        self.write("data/board.js", f"window.BOARD = {as_json(data)};\n")
        for metric, found in self.ranked.items():
            text = as_json({"metric": metric, "groups": found.groups})
            self.write(f"data/standings/{self.paths['metrics'][metric]}.js", f"window.STANDINGS({text});\n")

    def downloads(self, values: Any) -> None:
        """All raw values, and what each stands on."""
        arrow = require("pyarrow", extra="all")
        columns = ["detector", "kind", "series", "metric", "value", "rule", "threshold", "alarms", "alarmed_points"]
        more = ["n", "events", "status", "message", "labels", "scores", "versions"]
        buffer = arrow.BufferOutputStream()
        require("pyarrow.parquet", extra="all").write_table(values.select([*columns, *more]), buffer)
        self._write("data/values.parquet", buffer.getvalue().to_pybytes())
        # What is not a number is left empty in csv.
        compute = require("pyarrow.compute", extra="all")
        table = values.select(columns)
        for i, column in enumerate(table.columns):
            if arrow.types.is_floating(column.type):
                known = compute.if_else(compute.is_nan(column), arrow.scalar(None, column.type), column)
                table = table.set_column(i, columns[i], known)
        buffer = arrow.BufferOutputStream()
        require("pyarrow.csv", extra="all").write_csv(table, buffer)
        self._write("data/values.csv", buffer.getvalue().to_pybytes())

    def index(self) -> None:
        """The board."""
        real = sum(kind == SUBMISSION for kind in self.table.kinds.values())
        points = sum(f.n for f in self.table.facts.values())
        subtitle = (
            f"{real} detectors on {len(self.table.series)} series with {points:,} points, by "
            f"{len(self.records)} metrics; all values are computed from the published scores."
        )
        self.page("index.html", "board.html.j2", title=self.board.title, subtitle=subtitle, about=self.board.about)

    def detectors(self, values: Any) -> None:
        """A page for every submission and every baseline."""
        about = {one.name: one for one in self.board.submissions}
        of_one = values.filter(codes(values, "metric", self.board.metrics) == 0)
        files: dict[str, dict[str, Data]] = {}
        for row in of_one.select(["detector", "series", "scores", "status", "message"]).to_pylist():
            files.setdefault(row["detector"], {})[row["series"]] = row
        nothing = {"scores": "", "status": "", "message": None}
        for j, name in enumerate(self.table.detectors):
            one = about.get(name)
            facts: list[tuple[str, str]] = []
            if one is not None:
                facts = [(key, text) for key, text in one.about.items() if key != "name"]
                absent = [s for s in self.table.series if s not in one.scores]
                facts.append(("series", f"{len(self.table.series) - len(absent)} of {len(self.table.series)}"))
            mine = [(s, files[name].get(s, nothing)) for s in self.table.series]
            data = {
                "rows": [
                    {"name": s, "path": self.paths["series"][s], "sha256": row["scores"],
                     "message": row["message"] if row["status"] == "missing" else None}
                    for s, row in mine
                ],
                "standings": places(self.ranked, j),
                "values": [_row(table[:, j]) for table in self.shown],
            }  # fmt: skip
            path = f"detectors/{self.paths['detectors'][name]}.html"
            kind = self.table.kinds[name]
            self.page(
                path, "detector.html.j2", title=name, kind=kind, submission=SUBMISSION, facts=facts, data=as_json(data)
            )

    def series(self) -> None:
        """A page for every series."""
        for i, (name, labels) in enumerate(self.labels.items()):
            facts = labels.facts
            data = {
                "rows": [
                    {"name": d, "path": self.paths["detectors"][d], "kind": self.table.kinds[d]}
                    for d in self.table.detectors
                ],
                "values": [_row(table[i]) for table in self.shown],
            }
            about = [
                ("points", f"{facts.n:,}"), ("events", f"{facts.events:,}"), ("anomalous points", f"{facts.points:,}"),
                ("median length of events", f"{facts.median_length:g}"),
                ("SHA-256 of the labels", labels.labels_sha256),
            ]  # fmt: skip
            path = f"series/{self.paths['series'][name]}.html"
            self.page(path, "series.html.j2", title=name, facts=about, strip=labels.strip, data=as_json(data))

    def metrics(self) -> None:
        """A page for every metric."""
        order = list(self.records)
        for i, (text, record) in enumerate(self.records.items()):
            known = [(order[j], v) for j, v in enumerate(self.agreement[i]) if v is not None and j != i]
            near = sorted(known, key=lambda item: -item[1])
            self.page(
                f"metrics/{self.paths['metrics'][text]}.html",
                "metric.html.j2",
                title=record.label,
                text=text,
                facts=_metric_facts(record),
                properties=[PROPERTIES.get(p, p) for p in sorted(record.properties)],
                definition=inspect.getdoc(record.function) or "",
                game=self.ranked[text].facts,
                near=[(self.records[m].label, self.paths["metrics"][m], v) for m, v in near],
                data=as_json({"metric": text}),
            )

    def about(self) -> None:
        """How the numbers were made, and the board of metrics."""
        import tsadeval

        digests = [(name, labels.labels_sha256) for name, labels in self.labels.items()]
        if self.rankeval:
            self.page(
                "rankeval.html",
                "rankeval.html.j2",
                title="Board of metrics",
                boards=self.rankeval,
                metrics=self.paths["metrics"],
            )
        self.page(
            "about.html", "about.html.j2", title="How this board is made", version=tsadeval.__version__,
            rule=self.board.rule, gaps=f"{GAPS:.0%}", digests=digests, problems=self.board.problems,
        )  # fmt: skip


def _six_digits(values: Floats) -> Floats:
    """Values for a page, which shows fewer digits.

    >>> _six_digits(np.array([0.123456789, -1234567.0, 0.0]))
    array([ 1.234570e-01, -1.234567e+06,  0.000000e+00])
    """
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(np.abs(values)))
    # Larger numbers keep all digits before the point; smaller ones are 0 beside what the page shows.
    scale = 10.0 ** np.clip(5 - np.where(np.isfinite(size), size, 5), 0, 15)
    return np.asarray(np.rint(values * scale) / scale)


def _row(values: Floats) -> list[float | None]:
    return [value if math.isfinite(value) else None for value in values.tolist()]


def _metric_facts(record: Metric) -> list[tuple[str, str]]:
    low, high = record.range
    return [
        ("takes", record.kind),
        ("range", f"{low:g} to {high:g}, {record.direction} is better"),
        ("undefined where", record.undefined or "never"),
        ("references", "; ".join(record.references) or "-"),
    ]


def _board_of_metrics(folder: str | Path) -> Data:
    """The tables of a store of RankEval, as text, and what they stand on."""
    from tsadeval.core.results import cell_text
    from tsadeval.rankeval import read

    made: Any = read(folder).table()
    title, _, about = made.about.partition(": ")
    tables = []
    for name, grid in made._grids():
        head, *rows = [[cell_text(cell) for cell in row] for row in grid]
        tables.append({"title": name, "head": head, "rows": rows})
    return {"title": title, "about": about, "notes": made._notes(), "tables": tables}
