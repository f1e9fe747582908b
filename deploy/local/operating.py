"""Commands for operators that work on the stores themselves."""

from typing import Annotated

import typer

from libs.client.cli.shared import OPERATING, JsonOption


def _targets(names: list[str]) -> list[str]:
    from services.indexer.rebuild import TARGETS

    for name in names:
        if name not in TARGETS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(TARGETS)}")
    return names


def rebuild(
    targets: Annotated[
        list[str] | None,
        typer.Argument(help="catalog, search, graph; all three by default"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make catalog, search and graph again from the objects alone; services must be stopped.

    Keys, jobs and runs are not in the objects: those that the catalog still has stay, others
    come back with a backup. Running it again does no harm.
    """
    from deploy.local.commands import machine_settings
    from deploy.local.rebuild import run
    from services.indexer.rebuild import TARGETS

    wanted = frozenset(one for one in TARGETS if not targets or one in _targets(targets))
    raise typer.Exit(run(machine_settings(), wanted, as_json=as_json))


def check(as_json: JsonOption = False) -> None:
    """Compare objects, catalog, search and graph; exit 1 where they disagree.

    It only reads, and may run beside the services. `rebuild` mends what it finds.
    """
    from deploy.local.check import run
    from deploy.local.commands import machine_settings

    raise typer.Exit(run(machine_settings(), as_json=as_json))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (check, rebuild):
        app.command(rich_help_panel=OPERATING)(command)
