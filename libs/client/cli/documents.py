"""`groundwire documents …` and `groundwire outline`."""

from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import PANEL, client, plain, print_json, print_table

if TYPE_CHECKING:
    from libs.contracts.api.documents import DocumentView
    from libs.contracts.artefacts import NavSection

DocumentArgument = Annotated[str, typer.Argument(help="document id")]
JsonOption = Annotated[bool, typer.Option("--json", help="the answer as it came")]

documents = typer.Typer(no_args_is_help=True, help="List, show, roll back and delete documents.")


@documents.command("list")
def list_documents(
    context: typer.Context,
    collection: Annotated[str | None, typer.Option(help="only of this collection")] = None,
    limit: Annotated[int, typer.Option(min=1, help="at most so many")] = 100,
    as_json: JsonOption = False,
) -> None:
    """Documents of the namespace."""
    found: list[DocumentView] = []
    cursor = None
    with client(context) as groundwire:
        while len(found) < limit:
            page = groundwire.documents(
                collection=collection, cursor=cursor, limit=min(limit - len(found), 100)
            )
            found += page.items
            cursor = page.next_cursor
            if cursor is None:
                break
    if as_json:
        for view in found:
            typer.echo(view.model_dump_json())
        return
    print_table(
        ["document", "file", "state", "revision", "chunks", "vectors"],
        [
            [
                view.document_id,
                view.file_name,
                view.state,
                str(view.active_revision or "-"),
                str(view.counts.get("chunks", "-")),
                f"{view.dense_coverage:.0%}",
            ]
            for view in found
        ],
    )


@documents.command()
def show(context: typer.Context, document: DocumentArgument, as_json: JsonOption = False) -> None:
    """A document and its revisions."""
    with client(context) as groundwire:
        view = groundwire.document(document)
        revisions = groundwire.revisions(document).items
    if as_json:
        print_json(view)
        return
    typer.echo(plain(f"{view.document_id}  {view.file_name}  {view.state}"))
    print_table(
        ["", "revision", "state", "job", "bytes", "made"],
        [
            [
                "*" if revision.active else "",
                str(revision.revision),
                revision.state,
                revision.job_id,
                str(revision.size),
                f"{revision.created_at:%Y-%m-%d %H:%M:%S}",
            ]
            for revision in revisions
        ],
    )


@documents.command()
def rollback(
    context: typer.Context,
    document: DocumentArgument,
    revision: Annotated[int, typer.Argument(min=1, help="revision to make active")],
) -> None:
    """Make another kept revision the active one."""
    with client(context) as groundwire:
        groundwire.activate(document, revision)
    typer.echo(f"revision {revision} is active")


@documents.command()
def delete(
    context: typer.Context,
    document: DocumentArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
) -> None:
    """Hide a document at once and erase it from every store."""
    if not yes:
        typer.confirm(f"erase {document} with all its revisions?", abort=True)
    with client(context) as groundwire:
        receipt = groundwire.delete(document)
    typer.echo(f"{receipt.state}, erasure {receipt.erasure_id}")


def outline(
    context: typer.Context,
    document: DocumentArgument,
    revision: Annotated[int | None, typer.Option(min=1, help="another than the active one")] = None,
    as_json: JsonOption = False,
) -> None:
    """The section tree of a document."""
    with client(context) as groundwire:
        nav = groundwire.outline(document, revision)
    if as_json:
        print_json(nav)
        return
    typer.secho(plain(nav.title or nav.file_name), bold=True)
    _draw(nav.root, 0)


def _draw(section: "NavSection", depth: int) -> None:
    for child in section.children:
        counted = f"  ({child.total_chunk_count})" if child.total_chunk_count else ""
        typer.echo("  " * depth + plain(child.title) + counted)
        _draw(child, depth + 1)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(documents, name="documents", rich_help_panel=PANEL)
    app.command(rich_help_panel=PANEL)(outline)
