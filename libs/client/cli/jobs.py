"""`groundwire jobs`: what is being worked on, and what became of it."""

from typing import Annotated

import typer

from libs.client.cli.shared import OPERATING, client, print_json, print_table


def jobs(
    context: typer.Context,
    job: Annotated[str | None, typer.Argument(help="one job, whole")] = None,
    state: Annotated[str | None, typer.Option(help="only in this state")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="at most so many")] = 50,
    cancel: Annotated[bool, typer.Option("--cancel", help="stop the job named")] = False,
) -> None:
    """Jobs, newest first; with an id that job, whole."""
    with client(context) as groundwire:
        if job is not None:
            if cancel:
                groundwire.cancel(job)
            print_json(groundwire.job(job))
            return
        found = groundwire.jobs(state=state, limit=limit).items
    print_table(
        ["job", "file", "state", "stage", "progress", "error"],
        [
            [
                view.job_id,
                view.file_name,
                view.state,
                view.stage,
                f"{view.progress.done}/{view.progress.total or '?'} {view.progress.unit}",
                view.error.detail if view.error else "",
            ]
            for view in found
        ],
    )


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=OPERATING)(jobs)
