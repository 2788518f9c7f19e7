"""Result: the base class of everything that tsadeval returns as a table.

Every result is `rows`, plain dicts whose columns have the same names everywhere: series, detector, metric, value, rule,
threshold, alarms (runs of alarms), alarmed_points, seconds, status, message. A subclass says which part of them is
printed (`_grid`) and may add views of its own.
"""

import html
import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from tsadeval._optional import require
from tsadeval.core.names import escaped
from tsadeval.errors import InvalidInputError

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Grid = list[list[Any]]

# In a table: there is no number, for a reason that a note gives.
NONE = "-"

# The width of tables where no terminal says its own.
WIDTH = 120


def all_digits(value: float) -> str:
    """Format a number such that it is the same number when it is typed in.

    >>> all_digits(0.5), all_digits(12.0), all_digits(0.1 + 0.2)
    ('0.5', '12', '0.30000000000000004')
    """
    text = f"{value:.15g}"
    return text if float(text) == value else repr(float(value))


class Exact(float):
    """A number that tables print with all its digits: a threshold."""


def cell_text(value: Any, digits: int = 4) -> str:
    """Format a value as people read it in a table."""
    if value is None:
        return ""
    if isinstance(value, Exact):
        return all_digits(value)
    if isinstance(value, float):
        return f"{value:.{digits}f}" if math.isfinite(value) else str(value)
    return escaped(str(value))  # names of series and detectors may come from files


def lines_of(notes: Sequence[str]) -> str:
    """Join the notes under a table, which may hold names as its cells do."""
    return "\n".join(escaped(line) for note in notes for line in note.split("\n"))


def text_table(rows: Sequence[Sequence[Any]], digits: int = 4) -> str:
    """Rows (the first is the head) as aligned text: words to the left, numbers to the right.

    Columns that do not fit the terminal go below, under the first column again.
    """
    if not rows or not rows[0]:
        return "(no rows)"
    texts = [[cell_text(value, digits) for value in row] for row in rows]
    widths = [max(len(row[c]) for row in texts) for c in range(len(texts[0]))]
    right = [_numeric([row[c] for row in rows[1:]]) for c in range(len(widths))]

    def line(row: Sequence[str], columns: Sequence[int]) -> str:
        cells = (row[c].rjust(widths[c]) if right[c] else row[c].ljust(widths[c]) for c in columns)
        return "  ".join(cells).rstrip()

    blocks = []
    for columns in _blocks(widths, shutil.get_terminal_size((WIDTH, 24)).columns):
        lines = [line(row, columns) for row in texts]
        lines.insert(1, "  ".join("-" * widths[c] for c in columns))
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _numeric(values: Sequence[Any]) -> bool:
    """Return True if a column holds numbers only, apart from empty cells and dashes."""
    return all(value is None or value is NONE or isinstance(value, (int, float)) for value in values)


def _blocks(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return the columns in groups that fit the width, the first column in each."""
    blocks = [[0]]
    for column in range(1, len(widths)):
        used = sum(widths[before] + 2 for before in blocks[-1])
        if used + widths[column] > width and len(blocks[-1]) > 1:
            blocks.append([0])
        blocks[-1].append(column)
    return blocks


_LATEX = str.maketrans(
    {c: rf"\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "±": r"$\pm$"}
)


def latex_text(value: Any, digits: int = 4) -> str:
    r"""Format a value as LaTeX prints it, a number with a minus sign, which outside of formulas would be a hyphen.

    >>> latex_text(-0.023, 3), latex_text(-math.inf)
    ('$-$0.023', '$-\\infty$')
    """
    if value is NONE or value != value:
        return "--"  # a hyphen would look like a minus sign without a number
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return cell_text(value, digits).replace("-", "$-$").replace("inf", r"$\infty$").replace("$$", "")
    text = cell_text(value, digits).translate(_LATEX)
    # At the begin of a row these would belong to the line break of the row above.
    return "{}" + text if text.startswith(("[", "*")) else text


def latex_table(rows: Sequence[Sequence[Any]], digits: int = 4) -> str:
    """Rows (the first is the head) as a LaTeX tabular with booktabs rules."""
    spec = "".join("r" if _numeric([row[c] for row in rows[1:]]) else "l" for c in range(len(rows[0])))
    lines = [" & ".join(latex_text(v, digits) for v in row) + r" \\" for row in rows]
    body = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}"])


def html_table(rows: Sequence[Sequence[Any]], digits: int = 4) -> str:
    """Rows (the first is the head) as an HTML table for notebooks."""
    sides = ["right" if _numeric([row[c] for row in rows[1:]]) else "left" for c in range(len(rows[0]))]

    def line(row: Sequence[Any], tag: str) -> str:
        texts = [html.escape(cell_text(value, digits)) for value in row]
        cells = (f'<{tag} style="text-align: {side}">{text}</{tag}>' for text, side in zip(texts, sides, strict=True))
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


def plain(value: Any) -> Any:
    """JSON has no NaN and no infinities: null says "no number" in every reader. It has no dates either."""
    if isinstance(value, (np.datetime64, np.timedelta64)):
        whole, _, fraction = str(value).partition(".")
        return f"{whole}.{fraction}" if fraction.strip("0") else whole
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Result:
    """Rows, and their views: text, HTML, DataFrame, LaTeX, JSON."""

    def __init__(self, rows: list[Row], columns: Sequence[str] = ()) -> None:
        self._rows = rows
        self._columns = list(columns)

    @property
    def rows(self) -> list[Row]:
        """All rows as plain dicts."""
        return self._rows

    def _grid(self) -> Grid:
        """Head and rows of what is worth printing."""
        return grid_of(self.rows, self._columns or list(self.rows[0] if self.rows else ()))

    def _grids(self) -> list[tuple[str, Grid]]:
        """Several tables under each other, each with its title ("" for none)."""
        return [("", self._grid())]

    def _lead(self) -> str:
        """Lines above the tables: what they are of, and what their marks mean."""
        return ""

    def _notes(self) -> list[str]:
        """Lines under the table: what was chosen, dropped or undefined."""
        return []

    def to_frame(self) -> "pd.DataFrame":
        """All columns of all rows as a pandas DataFrame."""
        frame: pd.DataFrame = require("pandas", extra="all").DataFrame(self.rows)
        return frame

    def to_latex(self, *, digits: int = 4) -> str:
        """Return what is printed, as a LaTeX tabular (needs the booktabs package); metrics have their labels."""
        return "\n\n".join(latex_table(self._labelled(grid), digits) for _, grid in self._grids())

    def _labelled(self, grid: Grid) -> Grid:
        """Return a grid with labels in place of the metrics that its head or its first two columns name."""
        from tsadeval.core.metric import metric_labels  # which needs the kernels; results do not

        labels = metric_labels(dict.fromkeys(row["metric"] for row in self.rows if "metric" in row))
        head, *body = grid
        return [
            [labels.get(cell, cell) for cell in head],
            *([labels.get(c, c) for c in row[:2]] + row[2:] for row in body),
        ]

    def to_json(self, *, indent: int | None = 2) -> str:
        """All columns of all rows as JSON; a value that is not a number is null."""
        return json.dumps([{k: plain(v) for k, v in row.items()} for row in self.rows], indent=indent)

    def _repr_html_(self) -> str:
        """Return what is printed, for notebooks."""
        parts = [f"<p>{html.escape(line)}</p>" for line in self._lead().splitlines()]
        for title, grid in self._grids():
            parts += [f"<p>{html.escape(title)}</p>"] * bool(title) + [html_table(grid)]
        return "".join([*parts, *(f"<p>{html.escape(note)}</p>" for note in self._notes())])

    def __repr__(self) -> str:
        blocks = [f"{title}\n{text_table(grid)}" if title else text_table(grid) for title, grid in self._grids()]
        return "\n\n".join(part for part in (self._lead(), *blocks, lines_of(self._notes())) if part)


class ResultTable(Result):
    """Rows with what is printed of them: some columns, a grid or several with titles, lines above and below.

    Further attributes are given by name.

    In LaTeX the lines below the table are comments.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(
        self,
        rows: list[Row],
        *,
        columns: Sequence[str] = (),
        grid: Grid | None = None,
        grids: Sequence[tuple[str, Grid]] = (),
        lead: str = "",
        notes: Sequence[str] = (),
        **attributes: Any,
    ) -> None:
        super().__init__(rows, columns)
        self._printed = grid
        self._tables = list(grids)
        self._above = lead
        self._below = list(notes)
        self.__dict__.update(attributes)

    def _grid(self) -> Grid:
        return super()._grid() if self._printed is None else self._printed

    def _grids(self) -> list[tuple[str, Grid]]:
        return self._tables or super()._grids()

    def _lead(self) -> str:
        return self._above

    def _notes(self) -> list[str]:
        return self._below

    def to_latex(self, *, digits: int = 4) -> str:
        """Return what is printed, as a LaTeX tabular (booktabs) with the notes as comments."""
        return "\n".join(
            [super().to_latex(digits=digits), *(f"% {line}" for line in lines_of(self._notes()).splitlines())]
        )


def grid_of(rows: Sequence[Row], columns: Sequence[str]) -> Grid:
    """Return these columns of the rows, with their names as the head."""
    exact = ({**row, "threshold": Exact(t)} if isinstance(t := row.get("threshold"), float) else row for row in rows)
    return [list(columns), *([row.get(column) for column in columns] for row in exact)]


class MappingResult(Result, Mapping[str, float]):
    """A result that is also a mapping from the texts of its `key` column to values.

    A metric may be given in any way that names it ("VUS-PR", without its options where it is there once), and as its
    function or its record: `result[my_metric]`.
    """

    def __init__(self, rows: list[Row], shown: Sequence[str] = (), *, key: str = "metric") -> None:
        super().__init__(rows, shown)
        self._key = key

    def _items(self) -> dict[str, float]:
        return {row[self._key]: float(row["value"]) for row in self.rows}

    def __getitem__(self, name: Any) -> float:
        from tsadeval.core.selection import find_metric  # which needs the kernels; results do not

        items = self._items()
        return items[find_metric(name, items, kind=self._key.replace("name", "metric"))]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items())

    def __len__(self) -> int:
        return len(self._items())

    def to_mlflow(self) -> dict[str, float]:
        """Return the values by names that `mlflow.log_metrics` accepts: `cce(tau=0.4)` is `cce_tau_0.4`."""
        found: dict[str, float] = {}
        for name, value in self._items().items():
            key = re.sub(r"[^\w. :/-]+", "_", name).strip("_")
            if key in found:
                raise InvalidInputError(f"several values would be {key!r} in MLflow, of them {name!r}: log them apart")
            found[key] = value
        return found
