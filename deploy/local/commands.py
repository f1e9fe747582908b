"""Local commands: they need the services' code, so they join `groundwire` by entry point.

Everything heavy is imported when its command runs.
"""

from pathlib import Path
from typing import Annotated

import typer

FileArgument = Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="the file")]
LOCAL = "On this machine"
DEBUG = "One stage on one file, without the bus"


def _settings():  # type: ignore[no-untyped-def]
    from libs.runtime.settings import Settings

    return Settings()


def up() -> None:
    """Start the bus and all seven services, until Ctrl-C."""
    from deploy.local.up import up as run

    raise typer.Exit(run(_settings()))


def bootstrap() -> None:
    """Make tables, streams, durables and the local key on given servers; idempotent."""
    from deploy.local.bootstrap import bootstrap as run

    run(_settings())


def doctor() -> None:
    """Say what is reachable, which versions, what is missing and how to get it."""
    from deploy.local.doctor import doctor as run

    raise typer.Exit(run(_settings()))


def register(app: typer.Typer) -> None:
    """Add the local commands to the command line."""
    for command in (up, bootstrap, doctor):
        app.command(rich_help_panel=LOCAL)(command)
