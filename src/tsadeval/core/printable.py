"""Names that come from files, made safe to print."""

from __future__ import annotations

from typing import Any

_LONGEST = 200


def printable(text: Any) -> str:
    r"""The text with every character that a terminal could act on written as an escape, and cut where it is long.

    File and column names come from strangers: escape codes could recolour or overwrite the terminal, line breaks
    could imitate a second message, and bytes that are no text cannot be printed at all.

    >>> print(printable("a\x1b[31m\nb\u202e"))
    a\x1b[31m\nb\u202e
    >>> printable("Größe 1"), len(printable("x" * 10_000))
    ('Größe 1', 203)
    """
    shown = str(text)
    return escaped(f"{shown[:_LONGEST]}..." if len(shown) > _LONGEST else shown)


def escaped(text: str) -> str:
    """The same in full."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)
