"""`tsadeval leaderboard`: build a site from score files, import tables of scores, and check a submission."""

from pathlib import Path
from typing import Annotated

import typer

from tsadeval.cli.options import Jobs, say, say_warnings, with_options
from tsadeval.scores.scores import Scores

app = typer.Typer(
    help="A static site that ranks detectors by their score files.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("build")
def build(
    folder: Annotated[Path, typer.Argument(help="The board: a folder with labels/, submissions/ and board.toml.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the site.")] = Path("site"),
    rankeval: Annotated[
        list[Path] | None, typer.Option(help="A store of RankEval, for the board of metrics. Repeatable.")
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Compute what is new and write the site; exit code 1 where a submission or a score file was left out."""
    from tsadeval.leaderboard.site import build_site  # the other commands start sooner without it

    board = build_site(folder, output, rankeval=rankeval or [], n_jobs=jobs, progress=True)
    typer.echo(output / "index.html")
    say(f"left out: {text}" for text in board.problems)
    if board.problems:
        raise typer.Exit(1)


@app.command("import")
@with_options
def import_(
    scores: Scores,
    *,
    board: Annotated[Path, typer.Option("--board", help="The board: a folder, made where it is not there.")],
    author: Annotated[str, typer.Option(help="Of the submissions.")] = "unknown",
    training: Annotated[str, typer.Option(help="What the detectors were trained on.")] = "unknown",
) -> None:
    """Write labels and submissions from tables of scores; exit code 1 where some could not be used."""
    from tsadeval.leaderboard.submissions import import_scores

    with say_warnings():
        lines = import_scores(scores, board, author=author, training=training)
    say([*scores.notes, *scores.left_out_lines()])
    typer.echo("\n".join(lines))
    if scores.lost:
        raise typer.Exit(1)


@app.command("check")
def check(
    folder: Annotated[Path, typer.Argument(help="The submission.")],
    board: Annotated[Path | None, typer.Option(help="The board, to check that the scores fit its labels.")] = None,
) -> None:
    """Say what is wrong with a submission; exit code 1 where something is."""
    from tsadeval.leaderboard.submissions import check_submission

    lines = check_submission(folder, board)
    for line in lines:
        typer.echo(line)
    wrong = [line for line in lines if not line.startswith("note:") and ": note:" not in line]
    if wrong:
        raise typer.Exit(1)
    typer.echo("the submission can be taken")
