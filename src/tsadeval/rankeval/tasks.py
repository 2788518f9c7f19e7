"""Tasks: which models are ranked against each other, and in which order they belong."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

__all__ = ["TASKS", "TEXT_TASKS", "Task"]


@dataclass(frozen=True)
class Task:
    """Models of one generator, ranked by one of its parameters.

    Attributes
    ----------
    by : "q" or "p"
        The parameter that orders the models.
    better : "higher" or "lower"
        Which end of it is the better model.
    fixed : "q", "p" or ""
        The parameter that is the same for all models of a ranking: one ranking for each of its values.
    """

    name: str
    generator: str
    by: Literal["q", "p"]
    better: Literal["higher", "lower"] = "higher"
    fixed: Literal["q", "p", ""] = ""


TASKS = (
    Task("AccQ", "AccQ", by="q"),
    Task("LowDisAccQ", "LowDisAccQ", by="q"),
    Task("PreQ-NegP-Q", "PreQ-NegP", by="q", fixed="p"),
    Task("PreQ-NegP-P", "PreQ-NegP", by="p", better="lower", fixed="q"),
)

TEXT_TASKS = tuple(replace(task, generator=f"{task.generator}-text") for task in TASKS)
