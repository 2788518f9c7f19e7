"""Docstrings of metrics: what is the same for many is written once, and filled in where a metric is defined."""

import re
import textwrap
from collections.abc import Iterable

BETA = "beta : float, default=1.0\n    Recall counts beta times as much as precision."


def sections(doc: str) -> dict[str, str]:
    """Split a docstring of numpy's style by its headings; the text before the first one has the heading ""."""
    head, *parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", doc, flags=re.MULTILINE)
    return {"": head.strip(), **{h: text.rstrip() for h, text in zip(parts[::2], parts[1::2], strict=True)}}


def entries(parameters: str) -> dict[str, str]:
    """Split a section of parameters into the entry of each name; an entry of several names stands at all of them."""
    found = re.split(r"\n(?=\S)", parameters) if parameters else []
    return {name: entry for entry in found for name in entry.partition("\n")[0].partition(" :")[0].split(", ")}


def described(kind: str, text: str) -> str:
    """Return the entry of a return value."""
    return f"{kind}\n{textwrap.fill(text, 110, initial_indent='    ', subsequent_indent='    ')}"


def filled(doc: str, parameters: Iterable[str], returns: str | None) -> str:
    """Return a docstring with these entries of parameters, and with this return value unless it has its own."""
    parts = {"": "", "Parameters": "", "Returns": returns or "", **sections(doc)}
    parts["Parameters"] = "\n".join(dict.fromkeys(parameters))
    titles = {heading: f"{heading}\n{'-' * len(heading)}\n" if heading else "" for heading in parts}
    return "\n\n".join(titles[heading] + text for heading, text in parts.items() if text)
