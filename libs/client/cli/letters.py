"""`groundwire dead-letters …`: messages that ran out of deliveries."""

from typing import Annotated

import typer

from libs.client.cli.shared import (
    OPERATING,
    JsonOption,
    client,
    every,
    print_json,
    print_line,
    print_listing,
)

LetterArgument = Annotated[str, typer.Argument(help="dead letter id")]

letters = typer.Typer(no_args_is_help=True, help="Messages that ran out of deliveries.")


@letters.command("list")
def list_letters(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="at most so many")] = 50,
    as_json: JsonOption = False,
) -> None:
    """Dead letters with the reason."""
    with client(context) as groundwire:
        found = every(
            lambda cursor, size: groundwire.dead_letters(cursor=cursor, limit=size), limit
        )
    print_listing(
        found,
        {
            "dead letter": lambda letter: letter.dead_letter_id,
            "stage": lambda letter: letter.stage,
            "code": lambda letter: letter.code,
            "job": lambda letter: letter.job_id or "-",
            "deliveries": lambda letter: letter.deliveries,
            "parked": lambda letter: letter.parked_at,
            "reason": lambda letter: letter.detail,
        },
        as_json=as_json,
        nothing="there are no dead letters",
    )


@letters.command()
def show(context: typer.Context, letter: LetterArgument) -> None:
    """A dead letter, whole, as JSON."""
    with client(context) as groundwire:
        print_json(groundwire.dead_letter(letter))


@letters.command()
def replay(context: typer.Context, letter: LetterArgument, as_json: JsonOption = False) -> None:
    """Send it again, as a new message."""
    with client(context) as groundwire:
        groundwire.replay(letter)
    if as_json:
        print_line({"dead_letter_id": letter, "state": "replayed"})
    else:
        typer.echo("sent again")


@letters.command()
def discard(context: typer.Context, letter: LetterArgument, as_json: JsonOption = False) -> None:
    """Drop it for good."""
    with client(context) as groundwire:
        groundwire.discard(letter)
    if as_json:
        print_line({"dead_letter_id": letter, "state": "discarded"})
    else:
        typer.echo("discarded")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(letters, name="dead-letters", rich_help_panel=OPERATING)
