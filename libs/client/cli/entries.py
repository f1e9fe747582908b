"""`groundwire entries`: send records to a collection, search, enrich and review them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from libs.contracts.faults import Code

if TYPE_CHECKING:
    from libs.contracts.api.documents import JobView

ENRICH_SECONDS = 86_400.0
"""How long a job that asks models is waited for."""
MOST_FINDINGS = 20
CollectionArgument = Annotated[str, typer.Argument(help="name of the collection")]
entries = typer.Typer(
    no_args_is_help=True, help="Records of a collection: send, search, enrich, review."
)


@entries.command()
def send(
    context: typer.Context,
    collection: CollectionArgument,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="JSONL, CSV or XLSX")],
    replace: Annotated[bool, typer.Option(help="in place of what is published")] = False,
    strict: Annotated[bool, typer.Option(help="refuse the file for one faulty row")] = False,
    questions: Annotated[bool, typer.Option(help="the file holds sample questions")] = False,
    column: Annotated[
        list[str] | None, typer.Option(help="FIELD=COLUMN: which column holds id, name, text, …")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Send a file, wait until it is published, and name the rows that were left out; exit code 1
    when it is not published."""
    from libs.contracts.entries import RecordRules

    stated = [one.partition("=") for one in column or []]
    if wrong := next((name for name, _, other in stated if not name or not other), None):
        raise typer.BadParameter(f"{wrong}: give FIELD=COLUMN", param_hint="--column")
    rules = RecordRules(
        kind="questions" if questions else "entries",
        columns={name.strip(): other.strip() for name, _, other in stated},
        mode="replace" if replace else "merge",
        on_error="refuse" if strict else "skip",
    )
    with client(context) as groundwire:
        accepted = groundwire.send_records(collection, file, rules, wait_for_dense=True)
        job = groundwire.wait(accepted.job_id)
        left_out: list[str] = []
        if job.state == "published" and not as_json:
            noticed = groundwire.diagnostics(accepted.document_id, accepted.revision)
            left_out = [one.detail for one in noticed.findings if one.severity != "info"]
    for detail in left_out[:MOST_FINDINGS]:
        typer.echo(plain(detail), err=True)
    if len(left_out) > MOST_FINDINGS:
        typer.echo(f"{len(left_out) - MOST_FINDINGS} more", err=True)
    _ended([job], as_json)


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
    as_json: JsonOption = False,
) -> None:
    """Take one entry out and wait until the collection is published without it."""
    with client(context) as groundwire:
        job = groundwire.wait(groundwire.delete_entry(collection, entry_id).job_id)
    _ended([job], as_json)


@entries.command("list")
def list_collections(context: typer.Context, as_json: JsonOption = False) -> None:
    """The collections, with how many entries and sample questions each has."""
    with client(context) as groundwire:
        found = [groundwire.overview(name) for name in groundwire.collections()]
    if as_json:
        for view in found:
            print_line(view.model_dump(mode="json"))
        return
    rows = [[plain(v.collection), str(v.entries), str(v.questions)] for v in found]
    print_table(["collection", "entries", "questions"], rows)


@entries.command()
def enrich(
    context: typer.Context,
    collection: CollectionArgument,
    run: Annotated[bool, typer.Option("--run", help="do it, after the cost is shown")] = False,
    entry_id: Annotated[list[str] | None, typer.Option("--id", help="only this entry")] = None,
    as_json: JsonOption = False,
) -> None:
    """What having entries described by models would cost; with --run it is done."""
    from libs.contracts.query.entries import EnrichRequest

    with client(context) as groundwire:
        cost = groundwire.enrich(collection, EnrichRequest(ids=entry_id or []))
        if as_json and not run:
            print_line(cost.model_dump(mode="json"))
        elif not as_json:
            rows = [
                [s.step, plain(s.model or "not configured"), str(s.calls), str(s.cached),
                 str(s.tokens_in), str(s.tokens_out)]
                for s in cost.steps
            ]  # fmt: skip
            heads = ["step", "model", "calls", "known", "tokens in", "tokens out at most"]
            print_table(heads, rows)
        if not run:
            return
        begun = groundwire.enrich(collection, EnrichRequest(ids=entry_id or [], dry_run=False))
        if begun.job is not None:
            _ended([groundwire.wait(begun.job.job_id, ENRICH_SECONDS)], as_json)


@entries.command()
def export(
    context: typer.Context,
    collection: CollectionArgument,
    file: Annotated[Path, typer.Argument(dir_okay=False, help="the workbook to write")],
    by: Annotated[str, typer.Option(help="category, or a free field: a department")] = "category",
    english: Annotated[bool, typer.Option(help="titles in English")] = False,
) -> None:
    """Write the workbook in which people review the entries."""
    with client(context) as groundwire:
        data = groundwire.export_review(collection, by=by, language="en" if english else "ko")
    file.write_bytes(data)
    typer.echo(f"{file}: {len(data)} bytes")


@entries.command()
def review(
    context: typer.Context,
    collection: CollectionArgument,
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="the edited workbook")],
    as_json: JsonOption = False,
) -> None:
    """Send an edited workbook, wait, and say what it changed."""
    with client(context) as groundwire:
        sent = groundwire.send_review(collection, file)
        jobs = [
            groundwire.wait(one.job_id, ENRICH_SECONDS) for one in (sent.entries, sent.questions)
        ]
        asked = jobs[1].error is None or jobs[1].error.code != Code.NO_CONTENT
        failed = [job for job in jobs[: 2 if asked else 1] if job.state != "published"]
        if failed:
            _ended(failed, as_json)
        report = groundwire.review_report(collection)
    if as_json:
        print_line(report.model_dump(mode="json"))
        return
    rows = [["added", plain(one.id), plain(one.question)] for one in report.added]
    rows += [["removed", plain(one.id), plain(one.question)] for one in report.removed]
    rows += [["keywords", plain(one), ""] for one in report.keywords]
    rows += [["described anew", plain(one), ""] for one in report.feedback]
    rows += [["not published", plain(one), ""] for one in report.unknown]
    print_table(["change", "id", "question"], rows)


def _ended(jobs: "list[JobView]", as_json: bool) -> None:
    """Say how jobs ended; exit code 1 when one was not published."""
    for job in jobs:
        detail = f": {plain(job.error.detail)}" if job.error else ""
        if as_json:
            print_line(job.model_dump(mode="json"))
        else:
            typer.echo(f"{job.document_id} revision {job.revision} {job.state}{detail}")
    if any(job.state != "published" for job in jobs):
        raise typer.Exit(REFUSED)


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(entries, name="entries", rich_help_panel=PANEL)
