"""Numbers that more than one page shows: kept once, as JSON in docs/data, by the script that measured them."""

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
Rows = list[dict[str, Any]]
SIZES = {"10,000": "10k", "100,000": "100k"}  # points of the series of benchmarks/peers.py


def read(name: str) -> Rows:
    return json.loads((DOCS / "data" / f"{name}.json").read_text(encoding="utf-8"))


def write(name: str, rows: Rows) -> None:
    """A line for each row, so that a change can be read."""
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    (DOCS / "data" / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def table(heads: list[str], places: str, rows: Iterable[list[str]]) -> str:
    """A table in Markdown, from heads of columns, a letter for the place of each (left, right or centre), and cells."""
    head, *body = (f"| {' | '.join(cells)} |" for cells in [heads, *rows])
    marks = ({"l": "---", "r": "--:", "c": ":-:"}[place] for place in places)
    return "\n".join([head, f"|{'|'.join(marks)}|", *body])


def put(page: str, heading: str, made: str) -> None:
    """Write a table in the place of the first one below a heading of a page."""
    path = DOCS / page
    text = path.read_text(encoding="utf-8")
    at = text.index(f"\n## {heading}\n")
    rest = re.sub(r"^\|.*\n(\|.*\n)+", lambda _: f"{made}\n", text[at:], count=1, flags=re.MULTILINE)
    path.write_text(text[:at] + rest, encoding="utf-8")


def speed() -> str:
    """The table of benchmarks/metrics.py."""
    rows = read("speed")
    cells = ([row["call"], f"{row['ms']:.3f}", f"{row['sorts']:.2f}", f"{row['cpu_sorts']:.2f}"] for row in rows)
    return table(["call", "ms", "sorts", "sorts, CPU time"], "lrrr", cells)


def peers() -> str:
    """The table of benchmarks/peers.py."""
    columns = [f"{what}_{size}" for size in SIZES.values() for what in ("ours", "theirs", "ratio")]
    heads = [text for n in SIZES for text in (f"ours, {n}", "peer", "ratio")]
    cells = ([row[c] for c in ("metric", "peer", *columns, "difference", "note")] for row in read("peers"))
    return table(["metric", "peer", *heads, "difference", "note"], "llrrrrrrrl", cells)
