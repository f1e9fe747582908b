"""`groundwire search`: evidence for a query, as people read it or as JSON."""

from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import PANEL, client, plain, print_json

if TYPE_CHECKING:
    from libs.contracts.api.search import Evidence, SearchResponse

SHOWN_CHARS = 600


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="what to find evidence for")],
    top_k: Annotated[int, typer.Option(min=1, max=100, help="pieces of evidence")] = 10,
    agentic: Annotated[bool, typer.Option("--agentic", help="plan, navigate, then read")] = False,
    document: Annotated[list[str] | None, typer.Option(help="only in this document")] = None,
    collection: Annotated[list[str] | None, typer.Option(help="only in this collection")] = None,
    full: Annotated[bool, typer.Option("--full", help="do not shorten the evidence")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="the answer as it came")] = False,
    namespace: Annotated[str | None, typer.Option(help="namespace to search")] = None,
) -> None:
    """Find cited evidence for a query."""
    with client(context, namespace) as groundwire:
        from libs.contracts.api.search import SearchFilters, SearchRequest

        request = SearchRequest(
            query=query,
            mode="agentic" if agentic else "classic",
            top_k=top_k,
            filters=SearchFilters(document_ids=document or [], collections=collection or []),
        )
        answer = groundwire.search(request)
    if as_json:
        print_json(answer)
    else:
        _show(answer, full)


def _show(answer: "SearchResponse", full: bool) -> None:
    from libs.contracts.artefacts.chunk import REFERENCE

    if answer.clarification:
        typer.echo(plain(answer.clarification))
    for number, piece in enumerate(answer.evidence, 1):
        typer.secho(f"{number}. {_citation(piece)}", bold=True)
        content = plain(REFERENCE.sub("", piece.content)).strip()
        if not full and len(content) > SHOWN_CHARS:
            content = content[:SHOWN_CHARS].rstrip() + " …"
        typer.echo("\n".join(f"   {line}" for line in content.splitlines()))
        typer.echo()
    for item in answer.outline:
        typer.echo(f"   not opened: {plain(' › '.join(item.section_path) or item.title)}")
    if not answer.evidence:
        typer.echo("no evidence" + (f": {answer.status_reason}" if answer.status_reason else ""))
    typer.secho(f"{answer.status}, run {answer.run_id}", dim=True)


def _citation(piece: "Evidence") -> str:
    """File, section, pages and ids: everything to find the quotation again."""
    where = " › ".join(piece.section_path)
    pages = ", ".join(str(page) for page in piece.page_numbers)
    parts = [piece.source_file_name, where, f"p. {pages}" if pages else ""]
    place = " · ".join(plain(part) for part in parts if part)
    return f"{place}  [{piece.document_id} r{piece.revision} {piece.chunk_id[:13]}…]"


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=PANEL)(search)
