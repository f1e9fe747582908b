"""`groundwire jobs`: what is being worked on, and what became of it."""

from typing import Annotated

import typer

from libs.client.cli.shared import (
    MISUSED,
    OPERATING,
    JsonOption,
    client,
    every,
    print_json,
    print_listing,
    say_error,
)


def jobs(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="one job, whole")] = None,
    state: Annotated[str | None, typer.Option(help="only in this state")] = None,
    limit: Annotated[int, typer.Option(min=1, help="at most so many")] = 50,
    cancel: Annotated[bool, typer.Option("--cancel", help="stop the job named")] = False,
    as_json: JsonOption = False,
) -> None:
    """Jobs, newest first; with an id that job, whole, as JSON."""
    if cancel and job is None:
        say_error("--cancel stops one job: give its id")
        raise typer.Exit(MISUSED)
    with client(context) as groundwire:
        if job is not None:
            if cancel:
                groundwire.cancel(job)
            print_json(groundwire.job(job))
            return
        found = every(
            lambda cursor, size: groundwire.jobs(state=state, cursor=cursor, limit=size), limit
        )
    print_listing(
        found,
        {
            "job": lambda view: view.job_id,
            "file": lambda view: view.file_name,
            "state": lambda view: view.state,
            "stage": lambda view: view.stage,
            "progress": lambda view: (
                f"{view.progress.done}/{view.progress.total or '?'} {view.progress.unit}"
            ),
            "error": lambda view: view.error.detail if view.error else "",
        },
        as_json=as_json,
        nothing="there are no jobs",
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=OPERATING)(jobs)
