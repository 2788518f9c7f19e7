"""Progress of long runs: a bar on a terminal, lines elsewhere, a tqdm bar, or a function of the caller's."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, nullcontext
from functools import partial
from typing import Any, Self, TypeAlias

from tsadeval._optional import require
from tsadeval.errors import InvalidParameterError

# A function of (done, total), or a class such as tqdm.auto.tqdm, which makes a bar with `update`.
Progress: TypeAlias = Callable[..., Any]
# Off a terminal the first line comes after so many seconds, so that a short run prints none, and others as often.
FIRST_SECONDS, LINE_SECONDS = 2.0, 5.0
# The time left is named from this share of what there was to do on: the first values may be the slow ones.
KNOWN = 0.1


class Bar:
    """Progress of values, with their rate, the time left and the name of the last one; on standard error.

    On a terminal it is a bar. Elsewhere, as in a log file or a notebook, it is a line after two seconds, and then
    one every five.
    """

    def __init__(self, title: str) -> None:
        rich = require("rich.progress", extra="all")
        self._title = title
        self._terminal = sys.stderr.isatty()
        self._progress = rich.Progress(
            rich.TextColumn(title),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            rich.TextColumn("{task.fields[rate]}"),
            rich.TextColumn("{task.fields[left]}"),
            rich.TextColumn("{task.fields[name]}", markup=False),
            console=require("rich.console", extra="all").Console(stderr=True),
            disable=not self._terminal,
        )
        self._task = self._progress.add_task("", total=None, visible=False, rate="", left="", name="")
        self._done = self._before = 0
        self._total: int | None = None
        self._started = self._spoke = 0.0

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(self, *about: Any) -> None:
        self._progress.__exit__(*about)

    def __call__(self, done: int, total: int, name: str = "") -> None:
        """Show how far the run is, and what it finished last."""
        now = time.monotonic()
        if self._total is None:
            self._started, self._before, self._spoke = now, done, now - LINE_SECONDS + FIRST_SECONDS
        self._done, self._total = done, total
        seconds = now - self._started
        rate = (done - self._before) / seconds if seconds > 0.5 else 0.0
        known = rate and done - self._before >= KNOWN * (total - self._before)
        left = f"about {(total - done) / rate:,.0f} s left" if known else ""
        if self._terminal:
            shown = f"{rate:,.0f}/s" if rate else ""
            self._progress.update(
                self._task, completed=done, total=total, visible=True, rate=shown, left=left, name=name[:60]
            )
        elif now - self._spoke >= LINE_SECONDS:
            self._spoke = now
            print(
                f"{self._title}: {done} of {total} values{left and f', {left}'}{name and f'; {name}'}",
                file=sys.stderr,
                flush=True,
            )

    @property
    def words(self) -> str:
        """How far the run got."""
        return "nothing was computed yet" if self._total is None else f"{self._done} of {self._total} values are kept"


@contextmanager
def progress_of(wanted: Any, title: str) -> Iterator[Callable[[int, int, str], None]]:
    """Give the function (done, total, name) that is told of progress.

    `wanted` is True (a bar of ours), a class or a partial of a class that makes bars as tqdm's do, a function of
    (done, total), or None or False.
    """
    makes_bars = isinstance(wanted, type) or isinstance(getattr(wanted, "func", None), type)
    if wanted is True or isinstance(wanted, Bar):
        with Bar(title) if wanted is True else nullcontext(wanted) as bar:
            yield bar
    elif makes_bars:
        with closing(wanted(desc=title)) as bar:
            yield partial(_move, bar)
    elif wanted is None or wanted is False:
        yield lambda *_: None
    elif callable(wanted):
        yield lambda done, total, name: wanted(done, total)
    else:
        raise InvalidParameterError(
            f"progress must be True, a function of (done, total) or a class such as tqdm.auto.tqdm, but is {wanted!r}"
        )


def _move(bar: Any, done: int, total: int, name: str) -> None:
    """Move a bar of tqdm's kind, which knows how far it is."""
    bar.total = total
    if name:
        bar.set_postfix_str(name, refresh=False)
    bar.update(done - bar.n)
