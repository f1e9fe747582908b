"""`groundwire keys …`, `namespaces …` and `usage`, for the role admin; `audit`, for operators."""

from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import (
    OPERATING,
    JsonOption,
    client,
    every,
    plain,
    print_line,
    print_listing,
)

if TYPE_CHECKING:
    from libs.contracts.api.documents import KeyView

KeyArgument = Annotated[str, typer.Argument(help="key id")]

keys = typer.Typer(no_args_is_help=True, help="Make, rotate and revoke API keys.")
namespaces = typer.Typer(no_args_is_help=True, help="List and make namespaces.")


@keys.command("list")
def list_keys(
    context: typer.Context,
    namespace: Annotated[str | None, typer.Option(help="only of this namespace")] = None,
    as_json: JsonOption = False,
) -> None:
    """Keys; secrets are not kept, so they cannot be shown."""
    with client(context) as groundwire:
        found = every(lambda cursor, size: groundwire.keys(namespace, cursor=cursor, limit=size))
    print_listing(
        found,
        {
            "key": lambda key: key.key_id,
            "namespace": lambda key: key.namespace,
            "role": lambda key: key.role,
            "label": lambda key: key.label,
            "made": lambda key: f"{key.created_at:%Y-%m-%d %H:%M}",
            "ends": lambda key: f"{key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else "",
        },
        as_json=as_json,
        nothing="there are no keys",
    )


@keys.command()
def create(
    context: typer.Context,
    namespace: Annotated[str, typer.Argument(help="namespace of the key")],
    role: Annotated[str, typer.Option(help="reader, writer, operator or admin")] = "reader",
    label: Annotated[str, typer.Option(help="what it is for")] = "",
    as_json: JsonOption = False,
) -> None:
    """A new key; its secret is shown only now."""
    with client(context) as groundwire:
        _tell(groundwire.create_key(namespace, role, label), as_json)


@keys.command()
def rotate(
    context: typer.Context,
    key: KeyArgument,
    overlap: Annotated[
        int, typer.Option(min=0, help="seconds for which the old one stays good")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """A key in the place of another, whose secret is shown only now; the old one ends."""
    with client(context) as groundwire:
        _tell(groundwire.rotate_key(key, overlap), as_json)


def _tell(made: "KeyView", as_json: bool) -> None:
    if as_json:
        print_line(made)
    else:
        typer.echo(f"{made.key_id}\t{made.secret}")


@keys.command()
def revoke(context: typer.Context, key: KeyArgument, as_json: JsonOption = False) -> None:
    """End a key at once."""
    with client(context) as groundwire:
        groundwire.revoke_key(key)
    if as_json:
        print_line({"key_id": key, "state": "revoked"})
    else:
        typer.echo("revoked")


@namespaces.command("list")
def list_namespaces(context: typer.Context, as_json: JsonOption = False) -> None:
    """All namespaces."""
    with client(context) as groundwire:
        found = every(lambda cursor, size: groundwire.namespaces(cursor=cursor, limit=size))
    print_listing(found, {"namespace": str}, as_json=as_json, nothing="there are no namespaces")


@namespaces.command("create")
def create_namespace(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="its name")],
    as_json: JsonOption = False,
) -> None:
    """A new namespace."""
    with client(context) as groundwire:
        groundwire.create_namespace(name)
    if as_json:
        print_line({"namespace": name})
    else:
        typer.echo(plain(f"made {name}"))


def usage(
    context: typer.Context,
    namespace: Annotated[str | None, typer.Option(help="only of this namespace")] = None,
    as_json: JsonOption = False,
) -> None:
    """What each namespace holds."""
    with client(context) as groundwire:
        found = every(lambda cursor, size: groundwire.usage(namespace, cursor=cursor, limit=size))
    print_listing(
        found,
        {
            "namespace": lambda one: one.namespace,
            "documents": lambda one: one.documents,
            "chunks": lambda one: one.chunks,
            "keys": lambda one: one.keys,
            "jobs": lambda one: ", ".join(f"{n} {state}" for state, n in one.jobs.items() if n),
        },
        as_json=as_json,
        nothing="there are no namespaces",
    )


def audit(
    context: typer.Context,
    namespace: Annotated[str | None, typer.Option(help="only of this namespace")] = None,
    action: Annotated[str | None, typer.Option(help="only this, as key.revoke")] = None,
    target: Annotated[str | None, typer.Option(help="only about this id")] = None,
    limit: Annotated[int, typer.Option(min=1, help="at most so many")] = 50,
    as_json: JsonOption = False,
) -> None:
    """Who deleted, rolled back, replayed, discarded, paused or changed keys; newest first."""
    with client(context) as groundwire:
        found = every(
            lambda cursor, size: groundwire.audit(
                namespace=namespace, action=action, target=target, cursor=cursor, limit=size
            ),
            limit,
        )
    print_listing(
        found,
        {
            "at": lambda entry: f"{entry.at:%Y-%m-%d %H:%M:%S}",
            "key": lambda entry: entry.key_id,
            "role": lambda entry: entry.role,
            "namespace": lambda entry: entry.namespace or "-",
            "action": lambda entry: entry.action,
            "target": lambda entry: entry.target,
            "detail": lambda entry: ", ".join(f"{k} {v}" for k, v in entry.detail.items()),
            "reason": lambda entry: entry.reason or "",
        },
        as_json=as_json,
        nothing="there are no entries",
    )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(keys, name="keys", rich_help_panel=OPERATING)
    app.add_typer(namespaces, name="namespaces", rich_help_panel=OPERATING)
    app.command(rich_help_panel=OPERATING)(usage)
    app.command(rich_help_panel=OPERATING)(audit)
