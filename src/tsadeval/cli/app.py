"""The command-line application."""

from tsadeval._optional import require

typer = require("typer", extra="all")
from typer import Context  # noqa: E402 - only once the extra is known to be there

require("rich", extra="all")

from tsadeval.cli import (  # noqa: E402
    compare,
    detect,
    leaderboard,
    rankeval,
    registries,
    score,
    watch,
)

app = typer.Typer(
    help="Judge time-series anomaly detectors, and the metrics that judge them.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # the commands inherit it
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("score")(score.score)
app.command("compare")(compare.compare)
app.command("choose")(compare.choose)
app.command("report")(compare.report)
app.command("watch")(watch.watch)
app.command("metrics")(registries.metrics)
app.command("detectors")(registries.detectors)
app.command("detect")(detect.detect)
app.command("reproduce")(rankeval.reproduce)
app.add_typer(registries.app, name="datasets")
app.add_typer(rankeval.app, name="rankeval")
app.add_typer(leaderboard.app, name="leaderboard")


@app.callback(invoke_without_command=True)  # type: ignore[untyped-decorator]  # `require` gives typer as Any
def _top(
    context: Context,
    version: bool = typer.Option(False, "--version", help="Print the version and stop.", is_eager=True),
) -> None:
    import tsadeval

    context.with_resource(tsadeval.errors.for_command_line())

    if version:
        typer.echo(f"tsadeval {tsadeval.__version__}")
        raise typer.Exit()
