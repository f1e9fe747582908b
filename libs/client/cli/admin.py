"""`groundwire keys …`, `groundwire namespaces …` and `groundwire usage`, for the role admin."""

from typing import Annotated

import typer

from libs.client.cli.shared import OPERATING, client, print_table

KeyArgument = Annotated[str, typer.Argument(help="key id")]

keys = typer.Typer(no_args_is_help=True, help="Make, rotate and revoke API keys.")
namespaces = typer.Typer(no_args_is_help=True, help="List and make namespaces.")


@keys.command("list")
def list_keys(
    context: typer.Context,
    namespace: Annotated[str | None, typer.Option(help="only of this namespace")] = None,
) -> None:
    """Keys; secrets are not kept, so they cannot be shown."""
    with client(context) as groundwire:
        found = groundwire.keys(namespace).items
    print_table(
        ["key", "namespace", "role", "label", "made", "revoked"],
        [
            [
                key.key_id,
                key.namespace,
                key.role,
                key.label,
                f"{key.created_at:%Y-%m-%d %H:%M}",
                f"{key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else "",
            ]
            for key in found
        ],
    )


@keys.command()
def create(
    context: typer.Context,
    namespace: Annotated[str, typer.Argument(help="namespace of the key")],
    role: Annotated[str, typer.Option(help="reader, writer, operator or admin")] = "reader",
    label: Annotated[str, typer.Option(help="what it is for")] = "",
) -> None:
    """A new key; its secret is shown only now."""
    with client(context) as groundwire:
        made = groundwire.create_key(namespace, role, label)
    typer.echo(f"{made.key_id}\t{made.secret}")


@keys.command()
def rotate(context: typer.Context, key: KeyArgument) -> None:
    """A new secret for a key; shown only now."""
    with client(context) as groundwire:
        made = groundwire.rotate_key(key)
    typer.echo(f"{made.key_id}\t{made.secret}")


@keys.command()
def revoke(context: typer.Context, key: KeyArgument) -> None:
    """End a key at once."""
    with client(context) as groundwire:
        groundwire.revoke_key(key)
    typer.echo("revoked")


@namespaces.command("list")
def list_namespaces(context: typer.Context) -> None:
    """All namespaces."""
    with client(context) as groundwire:
        for name in groundwire.namespaces():
            typer.echo(name)


@namespaces.command("create")
def create_namespace(
    context: typer.Context, name: Annotated[str, typer.Argument(help="its name")]
) -> None:
    """A new namespace."""
    with client(context) as groundwire:
        groundwire.create_namespace(name)
    typer.echo(f"made {name}")


def usage(
    context: typer.Context,
    namespace: Annotated[str | None, typer.Option(help="only of this namespace")] = None,
) -> None:
    """What each namespace holds."""
    with client(context) as groundwire:
        found = groundwire.usage(namespace)
    print_table(
        ["namespace", "documents", "chunks", "keys", "jobs"],
        [
            [
                *(str(one[name]) for name in ("namespace", "documents", "chunks", "keys")),
                ", ".join(f"{count} {state}" for state, count in one["jobs"].items() if count),
            ]
            for one in found
        ],
    )


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(keys, name="keys", rich_help_panel=OPERATING)
    app.add_typer(namespaces, name="namespaces", rich_help_panel=OPERATING)
    app.command(rich_help_panel=OPERATING)(usage)
