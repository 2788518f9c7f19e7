"""`tsadeval metrics`: list the metrics."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from tsadeval.cli.options import complete_metrics
from tsadeval.cli.output import Format, render
from tsadeval.core.metric import METRICS, PROPERTIES, Metric, parse_metric


def metrics(
    name: Annotated[
        str, typer.Argument(help="Show all there is to know about this one.", autocompletion=complete_metrics)
    ] = "",
    format: Annotated[Format, typer.Option(help="How to print the list.")] = Format.text,
) -> None:
    """List all metrics, or describe one."""
    if name:
        typer.echo(_description(parse_metric(name)))
        return
    head = ["metric", "label", "takes", "range", "better", "summary"]
    rows: list[list[Any]] = [
        [m.name, m.label, m.kind, f"[{m.range[0]:g}, {m.range[1]:g}]", m.direction, m.summary] for m in METRICS.values()
    ]
    typer.echo(render(format, head, rows))


def _description(metric: Metric) -> str:
    facts = {
        "takes": metric.kind,
        "range": f"[{metric.range[0]:g}, {metric.range[1]:g}], {metric.direction} is better",
        "undefined": metric.undefined,
        "sets": ", ".join(sorted(metric.sets)) or "-",
    }
    lines = [f"{metric.name} ({metric.label}): {metric.summary}", ""]
    lines += [f"  {key:<10} {value}" for key, value in facts.items()]
    lines += [f"  {'holds':<10} {PROPERTIES[p]}" for p in sorted(metric.properties)]
    lines += [f"  {'option':<10} {k}={v!r}: {metric.checks[k]}" for k, v in metric.parameters.items()]
    lines += [f"  {'reference':<10} {r}" for r in metric.references]
    return "\n".join([*lines, "", inspect.getdoc(metric.function) or ""])
