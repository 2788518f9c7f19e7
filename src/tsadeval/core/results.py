"""Result: rows, and their views: mapping, table, DataFrame, LaTeX, JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tsadeval._optional import require
from tsadeval.core.registry import did_you_mean
from tsadeval.errors import UnknownNameError

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]


def cell_text(value: Any, digits: int = 4) -> str:
    """A value as people read it in a table."""
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.{digits}f}" if math.isfinite(value) else str(value)
    return str(value)


def text_table(rows: Sequence[Sequence[Any]], digits: int = 4) -> str:
    """Rows (the first is the head) as aligned text: words to the left, numbers to the right."""
    texts = [[cell_text(value, digits) for value in row] for row in rows]
    widths = [max(len(row[c]) for row in texts) for c in range(len(texts[0]))]
    right = [all(isinstance(row[c], (int, float)) for row in rows[1:]) for c in range(len(widths))]
    lines = [
        "  ".join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in texts
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


_LATEX = str.maketrans(
    {c: rf"\{c}" for c in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def latex_text(value: Any, digits: int = 4) -> str:
    """A value as LaTeX prints it."""
    return cell_text(value, digits).translate(_LATEX)


def latex_table(rows: Sequence[Sequence[Any]], digits: int = 4) -> str:
    """Rows (the first is the head) as a LaTeX tabular with booktabs rules."""
    right = [all(isinstance(row[c], (int, float)) for row in rows[1:]) for c in range(len(rows[0]))]
    lines = [" & ".join(latex_text(v, digits) for v in row) + r" \\" for row in rows]
    spec = "".join("r" if to_right else "l" for to_right in right)
    body = [rf"\begin{{tabular}}{{{spec}}}", r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}"])


def plain(value: Any) -> Any:
    """JSON has no NaN and no infinities: null says "no number" in every reader."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Result(Mapping[str, float]):
    """Values by metric, with everything else that is known of each as a row.

    `rows` is a list of plain dicts; `key` names the column whose text is the mapping's key.
    """

    def __init__(self, rows: list[Row], *, key: str = "metric", shown: Sequence[str] = ()) -> None:
        self.rows = rows
        self._key = key
        self._shown = list(shown)

    def __getitem__(self, name: str) -> float:
        for row in self.rows:
            if row[self._key] == name:
                return float(row["value"])
        raise UnknownNameError(f"no {self._key} {name!r} in this result: {did_you_mean(str(name), list(self))}")

    def __contains__(self, name: object) -> bool:
        return any(row[self._key] == name for row in self.rows)

    def get(self, name: str, default: Any = None) -> Any:
        """The value, or the default where this result has none of that name."""
        try:
            return self[name]
        except UnknownNameError:
            return default

    def __iter__(self) -> Iterator[str]:
        return iter(row[self._key] for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def table(self) -> list[list[Any]]:
        """Head and rows of the columns that are worth showing."""
        return [self._shown, *([row.get(column) for column in self._shown] for row in self.rows)]

    def to_frame(self) -> pd.DataFrame:
        """All columns as a pandas DataFrame, a row per metric."""
        return require("pandas", extra="all").DataFrame(self.rows)  # type: ignore[no-any-return]

    def to_latex(self, *, digits: int = 4) -> str:
        """The shown columns as a LaTeX tabular (needs the booktabs package)."""
        return latex_table(self.table(), digits)

    def to_json(self, *, indent: int | None = 2) -> str:
        """All columns as JSON; a value that is not a number is null."""
        return json.dumps([{k: plain(v) for k, v in row.items()} for row in self.rows], indent=indent)

    def __repr__(self) -> str:
        return text_table(self.table())
