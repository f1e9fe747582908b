"""`groundwire pause` and `groundwire resume`: a stage, or a namespace."""

from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import MISUSED, OPERATING, JsonOption, client, print_line, say_error

if TYPE_CHECKING:
    from libs.contracts.api.documents import Pauses

STAGES = ("profiler", "parser", "chunker", "indexer")

Stage = Annotated[
    str | None, typer.Argument(help=f"{', '.join(STAGES)}; none of them only tells what is paused")
]
Tenant = Annotated[
    str | None, typer.Option("--namespace", "-n", help="a namespace instead of a stage")
]


def pause(
    context: typer.Context,
    stage: Stage = None,
    namespace: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Give a stage no more messages, or let no waiting job of a namespace begin.

    What is at work is finished. Documents are still taken and searched.
    """
    _set(context, stage, namespace, as_json, paused=True)


def resume(
    context: typer.Context,
    stage: Stage = None,
    namespace: Tenant = None,
    as_json: JsonOption = False,
) -> None:
    """Let a stage or a namespace go on."""
    _set(context, stage, namespace, as_json, paused=False)


def _set(
    context: typer.Context, stage: str | None, namespace: str | None, as_json: bool, *, paused: bool
) -> None:
    if stage is not None and (namespace is not None or stage not in STAGES):
        say_error(f"name one stage of {', '.join(STAGES)}, or a namespace by --namespace")
        raise typer.Exit(MISUSED)
    with client(context) as groundwire:
        if stage is not None:
            found = groundwire.set_paused("stages", stage, paused)
        elif namespace is not None:
            found = groundwire.set_paused("namespaces", namespace, paused)
        else:
            found = groundwire.pauses()
    _tell(found, as_json)


def _tell(found: "Pauses", as_json: bool) -> None:
    if as_json:
        print_line(found)
        return
    for stage in found.stages:
        typer.echo(f"stage {stage} is paused")
    for name, since in found.namespaces.items():
        typer.echo(f"namespace {name} is paused since {since:%Y-%m-%d %H:%M:%S}")
    if not found.stages and not found.namespaces:
        typer.echo("nothing is paused")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (pause, resume):
        app.command(rich_help_panel=OPERATING)(command)
