"""`groundwire documents …` and `groundwire outline`."""

from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import (
    PANEL,
    JsonOption,
    client,
    every,
    plain,
    print_json,
    print_line,
    print_listing,
)

if TYPE_CHECKING:
    from libs.contracts.artefacts import DocNav, NavSection

DocumentArgument = Annotated[str, typer.Argument(help="document id")]

documents = typer.Typer(no_args_is_help=True, help="List, show, roll back and delete documents.")


@documents.command("list")
def list_documents(
    context: typer.Context,
    collection: Annotated[str | None, typer.Option(help="only of this collection")] = None,
    limit: Annotated[int, typer.Option(min=1, help="at most so many")] = 100,
    as_json: JsonOption = False,
) -> None:
    """Documents of the namespace."""
    with client(context) as groundwire:
        found = every(
            lambda cursor, size: groundwire.documents(
                collection=collection, cursor=cursor, limit=size
            ),
            limit,
        )
    print_listing(
        found,
        {
            "document": lambda view: view.document_id,
            "file": lambda view: view.file_name,
            "state": lambda view: view.state,
            "revision": lambda view: view.active_revision or "-",
            "chunks": lambda view: view.counts.get("chunks", "-"),
            "vectors": lambda view: f"{view.dense_coverage:.0%}",
        },
        as_json=as_json,
        nothing="there are no documents",
    )


@documents.command()
def show(context: typer.Context, document: DocumentArgument, as_json: JsonOption = False) -> None:
    """A document and its revisions."""
    with client(context) as groundwire:
        view = groundwire.document(document)
        revisions = every(lambda at, size: groundwire.revisions(document, cursor=at, limit=size))
    if as_json:
        kept = [revision.model_dump(mode="json") for revision in revisions]
        print_line(view.model_dump(mode="json") | {"revisions": kept})
        return
    typer.echo(plain(f"{view.document_id}  {view.file_name}  {view.state}"))
    print_listing(
        revisions,
        {
            "active": lambda revision: "*" if revision.active else "",
            "revision": lambda revision: revision.revision,
            "state": lambda revision: revision.state,
            "job": lambda revision: revision.job_id,
            "bytes": lambda revision: revision.size,
            "made": lambda revision: f"{revision.created_at:%Y-%m-%d %H:%M:%S}",
        },
        as_json=False,
        nothing="it has no revisions",
    )


@documents.command()
def rollback(
    context: typer.Context,
    document: DocumentArgument,
    revision: Annotated[int, typer.Argument(min=1, help="revision to make active")],
    as_json: JsonOption = False,
) -> None:
    """Make another kept revision the active one."""
    with client(context) as groundwire:
        groundwire.activate(document, revision)
    if as_json:
        print_line({"document_id": document, "active_revision": revision})
    else:
        typer.echo(f"revision {revision} is active")


@documents.command()
def delete(
    context: typer.Context,
    document: DocumentArgument,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask")] = False,
    as_json: JsonOption = False,
) -> None:
    """Hide a document at once and erase it from every store."""
    with client(context) as groundwire:
        if not yes:
            name = plain(groundwire.document(document).file_name)
            question = f"erase {document} ({name}) with all its revisions?"
            typer.confirm(question, abort=True, err=as_json)
        receipt = groundwire.delete(document)
    if as_json:
        print_line(receipt)
    else:
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
    if not _begins_with_title(nav):
        typer.secho(plain(nav.title or nav.file_name), bold=True)
    _draw(nav.root, 0)


def _begins_with_title(nav: "DocNav") -> bool:
    """Whether the first heading is the title itself."""
    return bool(nav.title and nav.root.children and nav.root.children[0].title == nav.title)


def _draw(section: "NavSection", depth: int) -> None:
    for child in section.children:
        counted = f"  ({child.total_chunk_count})" if child.total_chunk_count else ""
        typer.echo("  " * depth + plain(child.title) + counted)
        _draw(child, depth + 1)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(documents, name="documents", rich_help_panel=PANEL)
    app.command(rich_help_panel=PANEL)(outline)
