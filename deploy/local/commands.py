"""Local commands: they need the services' code, so they join `groundwire` by entry point.

Everything heavy is imported when its command runs.
"""

from typing import TYPE_CHECKING

import typer

from deploy.local import operating, stages
from libs.client.cli.shared import JsonOption

if TYPE_CHECKING:
    from libs.runtime.settings import Settings

LOCAL = "On this machine"


def machine_settings() -> "Settings":
    """The settings of this machine; one that is wrong ends the command with its name."""
    from pydantic import ValidationError

    from libs.runtime.settings import Settings

    try:
        return Settings()
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            name = "_".join(str(part) for part in fault["loc"]).upper()
            typer.secho(f"GROUNDWIRE_{name}: {fault['msg']}", err=True, fg=typer.colors.RED)
        raise typer.Exit(2) from None


def up() -> None:
    """Start the bus and all seven services, until Ctrl-C."""
    from deploy.local.up import up as run

    raise typer.Exit(run(machine_settings()))


def bootstrap() -> None:
    """Make tables, streams, durables and the local key; idempotent."""
    from deploy.local.bootstrap import bootstrap as run

    run(machine_settings())


def doctor(as_json: JsonOption = False) -> None:
    """Say what is reachable, what is missing, and how to get it."""
    from deploy.local.doctor import doctor as run

    raise typer.Exit(run(machine_settings(), as_json=as_json))


def register(app: typer.Typer) -> None:
    """Add the local commands to the command line."""
    for command in (up, bootstrap, doctor):
        app.command(rich_help_panel=LOCAL)(command)
    operating.register(app)
    stages.register(app)
