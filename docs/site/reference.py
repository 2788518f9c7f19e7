"""Pages of the reference: which names are on which, in which order. The text is in the docstrings."""

import importlib
import inspect
from pathlib import Path

from tsadeval.core.metric import METRICS

# page: (title, introduction, names under headings)
PAGES: dict[str, tuple[str, str, dict[str, list[str]]]] = {
    "evaluate": (
        "Evaluate",
        "One series, many series, in chunks.",
        {
            "One scoring": ["tsadeval.evaluate", "tsadeval.scorer"],
            "Thresholds": ["tsadeval.best_threshold", "tsadeval.choose_threshold", "tsadeval.curve"],
            "Many series": ["tsadeval.Scores", "tsadeval.compare", "tsadeval.evaluate_many"],
            "Why this value": ["tsadeval.cce_breakdown", "tsadeval.ears_breakdown", "tsadeval.CCEBreakdown"],
            "In chunks": ["tsadeval.StreamingCCE", "tsadeval.StreamingEvaluator", "tsadeval.evaluate_stream"],
            "Which metric": ["tsadeval.metrics.recommend"],
        },
    ),
    "results": (
        "Results",
        "What the functions return: tables with `rows`, and what else each can say.",
        {
            "All of them": ["tsadeval.core.results.Result"],
            "Of evaluation": ["tsadeval.evaluation.single.Evaluation", "tsadeval.evaluation.SeriesEvaluation"],
            "Of comparison": ["tsadeval.comparison.Comparison"],
            "Of thresholds": ["tsadeval.thresholds.choose.Choice"],
            "Of RankEval": ["tsadeval.rankeval.suite.SuiteResult"],
        },
    ),
    "time": (
        "Time, incidents and alarms",
        "From time stamps and intervals to points, and back.",
        {
            "": [
                "tsadeval.labels",
                "tsadeval.intervals",
                "tsadeval.alarms",
                "tsadeval.align",
                "tsadeval.times",
                "tsadeval.period",
            ]
        },
    ),
    "detect": (
        "Data sets and detectors",
        "Train, score, evaluate. [Data sets](../datasets.md) and [detectors](../detectors.md) have pages of their own.",
        {"Run": ["tsadeval.detect"], "Data": "tsadeval.datasets", "Detectors": "tsadeval.detectors"},
    ),
    "report": ("Reports", "Pages that need nothing but a browser.", {"": ["tsadeval.report"]}),
    "reproduce": ("The paper", "Its tables and figures beside ours.", {"": ["tsadeval.reproduce"]}),
    "plot": (
        "Figures",
        "Every figure takes `ax=` and returns it. The [gallery](../gallery/index.md) shows them.",
        {"": "tsadeval.plot"},
    ),
    "rankeval": ("RankEval", "The benchmark of metrics: [what it asks](../rankeval.md).", {"": "tsadeval.rankeval"}),
    "errors": ("Errors and warnings", "What is raised, and when.", {"": "tsadeval.errors"}),
}


def missing() -> list[str]:
    """Public names of the package that no page has yet; they go to the end of the first one."""
    import tsadeval

    listed = {
        name
        for _, _, parts in PAGES.values()
        for names in parts.values()
        if not isinstance(names, str)
        for name in names
    }
    functions = [name for name in tsadeval.__all__ if callable(getattr(tsadeval, name)) and name not in METRICS]
    return [f"tsadeval.{name}" for name in functions if f"tsadeval.{name}" not in listed]


def names_of(module: str) -> list[str]:
    """Public functions and classes of a module, as its __all__ has them."""
    home = importlib.import_module(module)
    public = getattr(home, "__all__", None) or [n for n in dir(home) if not n.startswith("_")]
    found = [name for name in public if callable(getattr(home, name))]
    return [f"{module}.{name}" for name in found if getattr(home, name).__module__.startswith("tsadeval")]


def directive(name: str) -> str:
    module, _, last = name.rpartition(".")
    thing = getattr(importlib.import_module(module), last)
    if inspect.isclass(thing):
        hidden = issubclass(thing, Exception)
        return f".. autoclass:: {name}\n" + ("" if hidden else "   :members:\n")
    return f".. autofunction:: {name}\n"


def page(title: str, introduction: str, parts: dict[str, list[str] | str]) -> str:
    text = [f"# {title}", introduction]
    for heading, names in parts.items():
        if heading:
            text.append(f"## {heading}")
        for name in names_of(names) if isinstance(names, str) else names:
            text.append(f"```{{eval-rst}}\n{directive(name)}```")
    return "\n\n".join(text) + "\n"


def command_line() -> str:
    """The help of every command, as it prints it."""

    import typer
    from typer.testing import CliRunner

    from tsadeval.cli.app import app

    def help_of(*command: str) -> str:
        done = CliRunner().invoke(
            app, [*command, "--help"], prog_name="tsadeval", env={"COLUMNS": "100", "NO_COLOR": "1"}
        )
        return "\n".join(line.rstrip() for line in done.output.strip().splitlines())

    group = typer.main.get_command(app)
    text = [
        "# Command line",
        "What `tsadeval --help` and `tsadeval COMMAND --help` print.",
        f"```text\n{help_of()}\n```",
    ]
    for name, command in sorted(group.commands.items()):
        text += [f"## {name}", f"```text\n{help_of(name)}\n```"]
        for sub in sorted(getattr(command, "commands", {})):
            text += [f"### {name} {sub}", f"```text\n{help_of(name, sub)}\n```"]
    return "\n\n".join(text) + "\n"


def write(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, (title, introduction, parts) in PAGES.items():
        if name == "evaluate" and (rest := missing()):
            parts = {**parts, "More": rest}
        (folder / f"{name}.md").write_text(page(title, introduction, parts), encoding="utf-8")
    (folder / "command-line.md").write_text(command_line(), encoding="utf-8")
    entries = "\n".join([*PAGES, "command-line"])
    head = "# Reference\n\nFrom the docstrings. The metrics, which are functions of `tsadeval.metrics`, have [pages of their own](../metrics/index.md)."
    (folder / "index.md").write_text(f"{head}\n\n```{{toctree}}\n:maxdepth: 2\n\n{entries}\n```\n", encoding="utf-8")
