"""Commands for operators that work on the stores themselves."""

from pathlib import Path
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


Folder = Annotated[Path, typer.Argument(help="the backup's folder", file_okay=False)]


def backup(folder: Folder, as_json: JsonOption = False) -> None:
    """Copy objects, keys, jobs and runs into a folder; again brings it up to date.

    It may run beside the services. Search, graph and chunks are made again by a restore.
    """
    from deploy.local.backup import backup as run
    from deploy.local.commands import machine_settings

    raise typer.Exit(run(machine_settings(), folder.absolute(), as_json=as_json))


def restore(folder: Folder, as_json: JsonOption = False) -> None:
    """Put a backup into empty stores, make everything else again, and compare them.

    Services must be stopped.
    """
    from deploy.local.backup import restore as run
    from deploy.local.commands import machine_settings

    raise typer.Exit(run(machine_settings(), folder.absolute(), as_json=as_json))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (check, rebuild, backup, restore):
        app.command(rich_help_panel=OPERATING)(command)
