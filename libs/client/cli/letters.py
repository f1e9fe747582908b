"""`groundwire dead-letters …`: messages that ran out of deliveries."""

from typing import Annotated

import typer

from libs.client.cli.shared import OPERATING, client, print_json, print_table

LetterArgument = Annotated[str, typer.Argument(help="dead letter id")]

letters = typer.Typer(no_args_is_help=True, help="Messages that ran out of deliveries.")


@letters.command("list")
def list_letters(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="at most so many")] = 50,
) -> None:
    """Dead letters with the reason."""
    with client(context) as groundwire:
        found = groundwire.dead_letters(limit=limit).items
    print_table(
        ["dead letter", "stage", "code", "job", "deliveries", "parked", "reason"],
        [
            [
                letter.dead_letter_id,
                letter.stage,
                letter.code,
                letter.job_id or "-",
                str(letter.deliveries),
                letter.parked_at,
                letter.detail,
            ]
            for letter in found
        ],
    )


@letters.command()
def show(context: typer.Context, letter: LetterArgument) -> None:
    """A dead letter, whole."""
    with client(context) as groundwire:
        print_json(groundwire.dead_letter(letter))


@letters.command()
def replay(context: typer.Context, letter: LetterArgument) -> None:
    """Send it again, as a new message."""
    with client(context) as groundwire:
        groundwire.replay(letter)
    typer.echo("sent again")


@letters.command()
def discard(context: typer.Context, letter: LetterArgument) -> None:
    """Drop it for good."""
    with client(context) as groundwire:
        groundwire.discard(letter)
    typer.echo("discarded")


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(letters, name="dead-letters", rich_help_panel=OPERATING)
