"""`tsadeval reproduce`: the paper's tables and figures beside ours."""

from pathlib import Path
from typing import Annotated

import typer

from tsadeval.cli.options import DataFolder, Shown, Work, running, say, show, with_options
from tsadeval.reproduction.reproduce import RESULTS
from tsadeval.reproduction.reproduce import reproduce as run


@with_options
def reproduce(
    name: Annotated[str, typer.Argument(help=f"{', '.join(RESULTS)}, or all.")] = "all",
    *,
    store: Annotated[Path, typer.Option(help="Folder of what is computed.")] = Path("runs/reproduce"),
    data: DataFolder = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the figures, in the paper's layout.")
    ] = None,
    work: Work,
    format: Shown = "text",
) -> None:
    """Compute what is missing in the store, then print the paper's numbers on CCE beside ours.

    Exit code 1 where something could not be computed for want of data.
    """
    with running("reproduce", work.dask) as bar:
        found = run(name, store=store, data=data, n_jobs=work.jobs, progress=bar, output=output)
    typer.echo(show(found, format))
    say([*found.missing, f"the values are in {store}"])
    if found.missing:
        raise typer.Exit(1)
