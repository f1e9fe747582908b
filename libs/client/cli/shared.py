"""What all remote commands share: where to call, how errors end, how to print."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

if TYPE_CHECKING:
    from pydantic import BaseModel

    from libs.client.synchronous import Client
    from libs.contracts.api.documents import Page

T = TypeVar("T")

PANEL = "Documents and evidence"
OPERATING = "Operating"
REFUSED = 1
MISUSED = 2
UNREACHABLE = 3
PAGE = 200
KEY_HINT = (
    "; show one with --key or GROUNDWIRE_API_KEY, or name the folder of a stack on this "
    "machine with GROUNDWIRE_DATA_DIR"
)

JsonOption = Annotated[bool, typer.Option("--json", help="the answer as JSON, one item a line")]


@dataclass(frozen=True)
class Target:
    """The options before the command; None is found elsewhere."""

    url: str | None = None
    key: str | None = None
    namespace: str | None = None


@contextmanager
def client(
    context: typer.Context, namespace: str | None = None, *, tries: int = 3
) -> Iterator["Client"]:
    """A client for one command; its errors become a sentence and an exit code.

    A command that people wait for is not tried for long; one that works through many files is.
    """
    from pydantic import ValidationError

    from libs.client.errors import ApiError, ClientError, Unreachable
    from libs.client.retry import Retry
    from libs.client.synchronous import Client

    target: Target = context.obj
    try:
        space = namespace or target.namespace
        with Client(target.url, target.key, space, retry=Retry(tries=tries)) as opened:
            yield opened
    except ApiError as error:
        say_error(describe(error))
        raise typer.Exit(REFUSED) from None
    except ValidationError as error:
        for fault in error.errors(include_url=False):
            say_error(f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}")
        raise typer.Exit(MISUSED) from None
    except Unreachable as error:
        say_error(str(error))
        raise typer.Exit(UNREACHABLE) from None
    except ClientError as error:
        say_error(str(error))
        raise typer.Exit(REFUSED) from None


def describe(error: Any) -> str:
    """An `ApiError` in a sentence, with the trace to look for."""
    problem = error.problem
    trace = f" (trace {problem.trace_id})" if problem.trace_id else ""
    hint = KEY_HINT if problem.status == 401 else ""
    return f"{problem.code}: {problem.detail or problem.title}{hint}{trace}"


def say_error(text: str) -> None:
    """A sentence on standard error."""
    typer.secho(text, err=True, fg=typer.colors.RED)


def plain(text: str) -> str:
    """Text of documents and services without what could steer a terminal."""
    unfit = "\N{REPLACEMENT CHARACTER}"
    return "".join(c if c.isprintable() or c in "\n\t" else unfit for c in text)


def print_json(model: "BaseModel") -> None:
    """A model as JSON on standard output."""
    sys.stdout.write(model.model_dump_json(indent=2, by_alias=True) + "\n")


def print_line(value: Any) -> None:
    """A model or plain data as one line of JSON on standard output."""
    if hasattr(value, "model_dump"):
        value = value.model_dump(mode="json", by_alias=True)
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")


def every(page: "Callable[[str | None, int], Page[T]]", most: int | None = None) -> list[T]:
    """The items of all pages, at most `most`; `page` is asked by cursor and limit."""
    found: list[T] = []
    cursor = None
    while True:
        wanted = PAGE if most is None else min(PAGE, most - len(found))
        got = page(cursor, wanted)
        found += got.items
        cursor = got.next_cursor
        if cursor is None or (most is not None and len(found) >= most):
            return found


def print_listing(
    items: Sequence[T],
    columns: Mapping[str, Callable[[T], object]],
    *,
    as_json: bool,
    nothing: str,
) -> None:
    """Items as a table or as lines of JSON; that there are none is said on standard error."""
    if as_json:
        for item in items:
            print_line(item)
    elif items:
        rows = [[str(cell(item)) for cell in columns.values()] for item in items]
        print_table(list(columns), rows)
    else:
        typer.echo(nothing, err=True)


def print_table(columns: list[str], rows: list[list[str]]) -> None:
    """A table that fits the terminal; tab-separated, headed alike, where there is none."""
    if not sys.stdout.isatty():
        for row in [columns, *rows]:
            typer.echo("\t".join(plain(cell).replace("\t", " ").replace("\n", " ") for cell in row))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(plain(cell)) for cell in row))
    Console().print(table)
