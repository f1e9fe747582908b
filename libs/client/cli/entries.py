"""`groundwire entries`: send records to a collection, search them, take one out."""

from pathlib import Path
from typing import Annotated

import typer

from libs.client.cli.shared import (
    PANEL,
    REFUSED,
    JsonOption,
    client,
    plain,
    print_line,
    print_table,
)

CollectionArgument = Annotated[str, typer.Argument(help="name of the collection")]
entries = typer.Typer(no_args_is_help=True, help="Records of a collection: send, search, delete.")


@entries.command()
def send(
    context: typer.Context,
    collection: CollectionArgument,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL, CSV or XLSX")],
    replace: Annotated[bool, typer.Option(help="in place of what is published")] = False,
    strict: Annotated[bool, typer.Option(help="refuse the file for one faulty row")] = False,
    questions: Annotated[bool, typer.Option(help="the file holds sample questions")] = False,
    as_json: JsonOption = False,
) -> None:
    """Send a file and wait until it is published; exit code 1 when it is not."""
    from libs.contracts.entries import RecordRules

    rules = RecordRules(
        kind="questions" if questions else "entries",
        mode="replace" if replace else "merge",
        on_error="refuse" if strict else "skip",
    )
    with client(context) as groundwire:
        accepted = groundwire.send_records(collection, file, rules, wait_for_dense=True)
        job = groundwire.wait(accepted.job_id)
    if as_json:
        print_line(job.model_dump(mode="json"))
    else:
        detail = f": {plain(job.error.detail)}" if job.error else ""
        typer.echo(f"{job.document_id} revision {job.revision} {job.state}{detail}")
    if job.state != "published":
        raise typer.Exit(REFUSED)


@entries.command()
def search(
    context: typer.Context,
    collection: CollectionArgument,
    query: Annotated[str, typer.Argument(help="everyday words")],
    top_k: Annotated[int, typer.Option(min=1, max=50, help="entries at most")] = 5,
    category: Annotated[str | None, typer.Option(help="only of this category")] = None,
    as_json: JsonOption = False,
) -> None:
    """The entries that the words mean, best first; exit code 1 when there is none."""
    from libs.contracts.query.entries import EntrySearch

    asked = EntrySearch(query=query, top_k=top_k, category=category)
    with client(context) as groundwire:
        found = groundwire.find_entries(collection, asked)
    if as_json:
        print_line(found.model_dump(mode="json"))
    elif found.entries:
        rows = [
            [f"{e.similarity:.0%}", plain(e.id), plain(e.name), plain(e.path)]
            for e in found.entries
        ]
        print_table(["similarity", "id", "name", "path"], rows)
    if not found.entries:
        raise typer.Exit(REFUSED)


@entries.command()
def delete(
    context: typer.Context,
    collection: CollectionArgument,
    entry_id: Annotated[str, typer.Argument(help="id of the entry")],
) -> None:
    """Take one entry out and wait until the collection is published without it."""
    with client(context) as groundwire:
        job = groundwire.wait(groundwire.delete_entry(collection, entry_id).job_id)
    typer.echo(f"{job.document_id} revision {job.revision} {job.state}")
    if job.state != "published":
        raise typer.Exit(REFUSED)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(entries, name="entries", rich_help_panel=PANEL)
