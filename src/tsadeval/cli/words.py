"""Translation of the library's messages for the command line: options instead of arguments."""

from __future__ import annotations

import re

# What the library says to whoever writes Python, and what the command line has for it.
_WORDS = {
    r"pass outside='clip' to cut it": "pass --clip to cut it",
    r"pass between='next' to label the next point, or 'drop'": "pass --clip to put it on the next point",
    r"pass overlap='merge' to allow that": "pass --clip to allow that",
    r"for incidents of a single moment pass closed='both'": "give it a stop after its start",
    r"for milliseconds since 1970 pass te\.times\(values, unit='ms'\)": "write seconds, or dates",
    r"pass times= to te\.evaluate": "name their column with --time",
    r"; pass columns=\(start, stop\)": "; rename them",
    r"say which with key= \(on the command line, --by\)": "say which with --by",
    r"by=\[[^\]]*\] \((--by [^)]*)\)": r"\1",
    r"pass one_series=True \(tsadeval score --one-series; .*arrays\)": "pass --one-series to tsadeval score",
    r", in Python y_score=\[.*\]$": "",
    r"threshold=\"best\"": "--threshold best",
    r"it cannot leave out the points of ignore=,": "it cannot leave out the points of --ignore,",
    r"; write a date such as ('[^']*') \(ISO 8601\), or pass datetime objects or numbers": (
        r"; write dates such as \1 (ISO 8601), or numbers of seconds"
    ),
    r"where their scores are NaN and missing='skip', it": "where their scores are empty, with --missing skip it",
    r"see failures\(\)": "see the lines of stderr",
    r"; choose with columns=\[\.\.\.\]": ": take it out of the table",
    r"no span of ignore=": "no span of --ignore",
    r"^n_jobs must be": "--jobs must be",
    r"pass incidents= for when they began": "--incidents says when they began",
    r"max_false_alarms=('[^']*') is a rate, so times= is needed": r"\1 is a rate: name the column of times with --time",
}
_PATTERNS = [(re.compile(pattern), words) for pattern, words in _WORDS.items()]


def spoken(message: str) -> str:
    """The message with options in place of arguments.

    >>> spoken("row 3 reaches beyond the time stamps; pass outside='clip' to cut it")
    'row 3 reaches beyond the time stamps; pass --clip to cut it'
    """
    for pattern, words in _PATTERNS:
        message = pattern.sub(words, message)
    return message
