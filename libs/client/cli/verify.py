"""`groundwire verify`: whether citations still say what they said."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from libs.client.cli.shared import (
    MISUSED,
    PANEL,
    REFUSED,
    JsonOption,
    client,
    plain,
    print_line,
    print_table,
    say_error,
)

if TYPE_CHECKING:
    from libs.contracts.api.search import VerifyRequest

CITED = ("document_id", "revision", "chunk_id", "content_hash", "quote")


def verify(
    context: typer.Context,
    answer: Annotated[
        Path, typer.Argument(help="what `search --json` wrote, or one citation; - reads it")
    ] = Path("-"),
    quote: Annotated[str | None, typer.Option(help="words that a citation must hold")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check citations; exit code 1 when one is superseded, erased or a mismatch.

    For example: groundwire search "how do I start it?" --json | groundwire verify
    """
    try:
        text = typer.get_text_stream("stdin").read() if str(answer) == "-" else answer.read_text()
    except (OSError, UnicodeDecodeError) as error:
        say_error(f"{answer} cannot be read ({type(error).__name__})")
        raise typer.Exit(MISUSED) from None
    failed = False
    rows = []
    with client(context) as groundwire:
        for request in _citations(text, quote):
            found = groundwire.verify(request)
            failed |= found.status != "verified"
            if as_json:
                print_line(request.model_dump(mode="json") | found.model_dump(mode="json"))
            cited = [request.document_id, str(request.revision), plain(request.chunk_id)]
            rows.append([found.status, *cited, plain(found.detail)])
    if not as_json:
        if rows:
            print_table(["status", "document", "revision", "chunk", "detail"], rows)
        else:
            typer.echo("there is no evidence to verify", err=True)
    if failed:
        raise typer.Exit(REFUSED)


def _citations(text: str, quote: str | None) -> list["VerifyRequest"]:
    """The citations of an answer, or the one that the text is."""
    from libs.contracts.api.search import VerifyRequest

    try:
        data: Any = json.loads(text)
    except (ValueError, RecursionError):
        say_error("this is no JSON: give what `groundwire search QUERY --json` wrote")
        raise typer.Exit(MISUSED) from None
    pieces = data.get("evidence", [data]) if isinstance(data, dict) else data
    if not isinstance(pieces, list) or not all(isinstance(piece, dict) for piece in pieces):
        say_error("this holds no citations: give what `groundwire search QUERY --json` wrote")
        raise typer.Exit(MISUSED)
    cited = [{name: piece[name] for name in CITED if name in piece} for piece in pieces]
    return [
        VerifyRequest.model_validate(one | ({"quote": quote} if quote is not None else {}))
        for one in cited
    ]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=PANEL)(verify)
