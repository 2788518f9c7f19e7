"""The progress bar of long runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tsadeval._optional import require

Progress = Callable[[int, int], None]


class Bar:
    """A progress bar of values, with their rate and the time left; on standard error, and only on a terminal."""

    def __init__(self, title: str) -> None:
        rich = require("rich.progress", extra="all")
        self._progress = rich.Progress(
            rich.TextColumn(title),
            rich.BarColumn(),
            rich.MofNCompleteColumn(),
            rich.TextColumn("{task.fields[rate]}"),
            rich.TimeRemainingColumn(),
            rich.TextColumn("{task.fields[name]}", markup=False),
            console=require("rich.console", extra="all").Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task("", total=None, rate="", name="")
        self.name = ""  # what was computed last
        self._done: int = 0
        self._total: int | None = None
        self._started: float = 0.0
        self._before: int = 0

    def __enter__(self) -> Bar:
        self._progress.__enter__()
        return self

    def __exit__(self, *about: Any) -> None:
        self._progress.__exit__(*about)

    def __call__(self, done: int, total: int) -> None:
        """Show how far the run is."""
        if self._total is None:
            self._started, self._before = time.monotonic(), done
        self._done, self._total = done, total
        seconds = time.monotonic() - self._started
        rate = f"{(done - self._before) / seconds:,.0f}/s" if seconds > 0.5 else ""
        self._progress.update(self._task, completed=done, total=total, rate=rate, name=self.name)

    @property
    def words(self) -> str:
        """How far the run got."""
        return "nothing was computed yet" if self._total is None else f"{self._done} of {self._total} values are kept"


@contextmanager
def progress_of(wanted: bool | Progress | None, title: str) -> Iterator[Progress | None]:
    """The function that is told of progress: the caller's own, that of a new bar for True, or none."""
    if wanted is True:
        with Bar(title) as bar:
            yield bar
    else:
        yield wanted or None
