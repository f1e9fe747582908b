"""`groundwire dead-letters …`: messages that ran out of deliveries."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import (
    MISUSED,
    OPERATING,
    REFUSED,
    JsonOption,
    client,
    describe,
    every,
    print_json,
    print_line,
    print_listing,
    say_error,
)

if TYPE_CHECKING:
    from libs.client.synchronous import Client
    from libs.contracts.api.letters import LetterView

LetterArgument = Annotated[str, typer.Argument(help="dead letter id")]
LettersArgument = Annotated[list[str] | None, typer.Argument(help="dead letter ids")]
StageOption = Annotated[str | None, typer.Option(help="only of this stage")]
CodeOption = Annotated[str | None, typer.Option(help="only with this code")]
DocumentOption = Annotated[str | None, typer.Option(help="only of this document")]
AllOption = Annotated[bool, typer.Option("--all", help="every one that fits the other options")]

letters = typer.Typer(no_args_is_help=True, help="Messages that ran out of deliveries.")


@letters.command("list")
def list_letters(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, help="at most so many")] = 50,
    stage: StageOption = None,
    code: CodeOption = None,
    document: DocumentOption = None,
    as_json: JsonOption = False,
) -> None:
    """Dead letters with the reason, oldest first."""
    with client(context) as groundwire:
        found = _chosen(groundwire, stage, code, document, limit)
    print_listing(
        found,
        {
            "dead letter": lambda letter: letter.dead_letter_id,
            "stage": lambda letter: letter.stage,
            "code": lambda letter: letter.code,
            "age": lambda letter: _age(letter.age_seconds),
            "document": lambda letter: letter.document_id or "-",
            "job": lambda letter: letter.job_id or "-",
            "deliveries": lambda letter: letter.deliveries,
            "reason": lambda letter: letter.detail,
        },
        as_json=as_json,
        nothing="there are no dead letters",
    )


@letters.command()
def show(context: typer.Context, letter: LetterArgument) -> None:
    """A dead letter, whole, as JSON: with its message, and where its trace is shown."""
    with client(context) as groundwire:
        print_json(groundwire.dead_letter(letter))


@letters.command()
def replay(
    context: typer.Context,
    letter: LettersArgument = None,
    stage: StageOption = None,
    code: CodeOption = None,
    document: DocumentOption = None,
    everyone: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Send letters again, as new messages: those that are named, or all of a stage, code or
    document. Exit code 1 when one could not be."""
    with client(context) as groundwire:
        wanted = _wanted(groundwire, letter, (stage, code, document), everyone)
        _each(wanted, groundwire.replay, "replayed", "sent again", as_json)


@letters.command()
def discard(
    context: typer.Context,
    reason: Annotated[str, typer.Option(help="why, for the audit log")],
    letter: LettersArgument = None,
    stage: StageOption = None,
    code: CodeOption = None,
    document: DocumentOption = None,
    everyone: AllOption = False,
    as_json: JsonOption = False,
) -> None:
    """Drop letters for good: those that are named, or all of a stage, code or document."""
    with client(context) as groundwire:
        wanted = _wanted(groundwire, letter, (stage, code, document), everyone)

        def drop(one: str) -> None:
            groundwire.discard(one, reason)

        _each(wanted, drop, "discarded", "discarded", as_json)


def _wanted(
    groundwire: "Client",
    named: list[str] | None,
    chosen: tuple[str | None, str | None, str | None],
    everyone: bool,
) -> list[str]:
    """The ids that are meant; exits where nothing, or two things, were said."""
    choice = everyone or any(chosen)
    if bool(named) == choice:
        say_error("name letters, or choose them by --stage, --code, --document or --all")
        raise typer.Exit(MISUSED)
    if named:
        return named
    return [one.dead_letter_id for one in _chosen(groundwire, *chosen)]


def _chosen(
    groundwire: "Client",
    stage: str | None,
    code: str | None,
    document: str | None,
    limit: int | None = None,
) -> "list[LetterView]":
    return every(
        lambda cursor, size: groundwire.dead_letters(
            stage=stage, code=code, document_id=document, cursor=cursor, limit=size
        ),
        limit,
    )


def _each(ids: list[str], act: Callable[[str], None], state: str, done: str, as_json: bool) -> None:
    """Do it to each; what is refused is said, and the others go on."""
    from libs.client.errors import ApiError

    refused = False
    for one in ids:
        try:
            act(one)
        except ApiError as error:
            refused = True
            say_error(f"{one}: {describe(error)}")
            continue
        if as_json:
            print_line({"dead_letter_id": one, "state": state})
        else:
            typer.echo(f"{one}: {done}")
    if not ids:
        typer.echo("there are no such dead letters", err=True)
    if refused:
        raise typer.Exit(REFUSED)


def _age(seconds: float) -> str:
    """`3d 4h`, `2h 5m`, `40m 10s`: the two largest parts."""
    days, rest = divmod(int(seconds), 86_400)
    hours, rest = divmod(rest, 3600)
    minutes, left = divmod(rest, 60)
    parts = [(days, "d"), (hours, "h"), (minutes, "m"), (left, "s")]
    while len(parts) > 2 and not parts[0][0]:
        parts.pop(0)
    return " ".join(f"{number}{unit}" for number, unit in parts[:2])


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.add_typer(letters, name="dead-letters", rich_help_panel=OPERATING)
