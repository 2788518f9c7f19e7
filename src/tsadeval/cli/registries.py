"""`tsadeval metrics` and `tsadeval detectors`: list the metrics and the detectors, or describe one."""

import inspect
from collections.abc import Iterable
from typing import Annotated

import typer

from tsadeval.cli.options import Shown, complete_detectors, complete_metrics, show
from tsadeval.core.metric import METRICS, PROPERTIES, parse_metric
from tsadeval.core.results import Result
from tsadeval.detectors.records import DETECTORS, parse_detector


def metrics(
    name: Annotated[
        str, typer.Argument(help="Show all there is to know about this one.", autocompletion=complete_metrics)
    ] = "",
    format: Shown = "text",
) -> None:
    """List all metrics, or describe one."""
    if name:
        metric = parse_metric(name)
        facts = [
            ("takes", metric.kind),
            ("range", f"[{metric.range[0]:g}, {metric.range[1]:g}], {metric.direction} is better"),
            ("undefined", metric.undefined),
            ("sets", ", ".join(sorted(metric.sets)) or "-"),
            *(("holds", PROPERTIES[one]) for one in sorted(metric.properties)),
            *(("option", f"{key}={value!r}: {metric.checks[key]}") for key, value in metric.parameters.items()),
            *(("reference", reference) for reference in metric.references),
        ]
        _describe(f"{metric.name} ({metric.label}): {metric.summary}", facts, metric.function)
        return
    rows = [
        {
            "metric": metric.name,
            "label": metric.label,
            "takes": metric.kind,
            "range": f"[{metric.range[0]:g}, {metric.range[1]:g}]",
            "better": metric.direction,
            "summary": metric.summary,
        }
        for metric in METRICS.values()
    ]
    typer.echo(show(Result(rows), format))


def detectors(
    name: Annotated[
        str, typer.Argument(help="Show all there is to know about this one.", autocompletion=complete_detectors)
    ] = "",
    format: Shown = "text",
) -> None:
    """List all detectors, or describe one. None is trained, and torch is not needed."""
    if name:
        record = parse_detector(name)
        options = {**record.parameters, **dict(record.bound)}
        facts = [
            ("in tables", record.title),
            ("needs", f"pip install 'tsadeval[{record.extra}]'"),
            ("score", record.scoring),
            *(("option", f"{key}={value!r}: {record.about[key]}") for key, value in options.items()),
            ("reference", record.reference),
        ]
        _describe(f"{record}: {record.summary}", facts, record.make)
        return
    rows = [
        {"detector": one.name, "in tables": one.title, "needs": one.extra, "summary": one.summary}
        for one in DETECTORS.values()
    ]
    typer.echo(show(Result(rows), format))


def _describe(head: str, facts: Iterable[tuple[str, str]], documented: object) -> None:
    """Print what is known of a record, and the documentation of what it is a record of."""
    lines = [f"  {key:<10} {value}" for key, value in facts]
    typer.echo("\n".join([head, "", *lines, "", inspect.getdoc(documented) or ""]))
