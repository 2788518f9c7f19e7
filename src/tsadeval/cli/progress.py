"""The progress bar of long runs."""

from __future__ import annotations

import sys
import time
from typing import Any


class Bar:
    """A progress bar of values, with their rate and the time left; on standard error, and only on a terminal."""

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn(title),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
        )
        self._task = self._progress.add_task("", total=None, rate="")
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
        self._progress.update(self._task, completed=done, total=total, rate=rate)

    @property
    def words(self) -> str:
        """How far the run got."""
        return "nothing was computed yet" if self._total is None else f"{self._done} of {self._total} values are kept"
