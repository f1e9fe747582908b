"""One stage on one file, without bus and stores: what the services would make of it."""

import hashlib
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.shared import plain

if TYPE_CHECKING:
    from pydantic import BaseModel

    from libs.contracts.artefacts import Diagnostics, Profile, Row

PANEL = "One stage on one file, without the bus"

File = Annotated[Path, typer.Argument(exists=True, dir_okay=False, readable=True)]


def _known(engine: str | None) -> str | None:
    from libs.contracts.engines import ENGINES

    if engine is not None and engine not in ENGINES:
        raise typer.BadParameter(f"unknown engine; known are {', '.join(ENGINES)}")
    return engine


Engine = Annotated[
    str | None, typer.Option(callback=_known, help="another engine than the format's own")
]
Assets = Annotated[Path | None, typer.Option(file_okay=False, help="keep images and tables here")]


@contextmanager
def _faults_told() -> Iterator[None]:
    """A fault ends the command with its code and sentence."""
    import logging

    import structlog

    from libs.contracts.faults import Fault

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    try:
        yield
    except Fault as fault:
        typer.secho(f"{fault.code}: {fault.detail}", err=True, fg=typer.colors.RED)
        raise typer.Exit(1) from None


def _print(model: "BaseModel") -> None:
    sys.stdout.write(model.model_dump_json(indent=1) + "\n")


def _profile(file: Path) -> "Profile":
    from services.profiler.local import profile_path

    return profile_path(file)


def _rows(
    file: Path, engine: str | None, assets: Path | None
) -> tuple["Profile", "list[Row]", "Diagnostics"]:
    from services.parser.local import parse_file

    profile = _profile(file)
    rows, diagnostics = parse_file(file, profile, engine=engine, assets=assets)
    return profile, rows, diagnostics


def profile(file: File) -> None:
    """Format, language, pages, outline and shard plan of a file."""
    with _faults_told():
        _print(_profile(file))


def parse(file: File, engine: Engine = None, assets: Assets = None) -> None:
    """The rows of a file, one JSON a line; what was noticed goes to standard error."""
    with _faults_told():
        _, rows, diagnostics = _rows(file, engine, assets)
    for row in rows:
        sys.stdout.write(row.model_dump_json(exclude_defaults=True) + "\n")
    for finding in diagnostics.findings:
        typer.echo(f"{finding.severity}: {finding.code}: {finding.detail}", err=True)


def headings(file: File, engine: Engine = None) -> None:
    """The headings of a file as a tree, with level and evidence."""
    with _faults_told():
        _, rows, _ = _rows(file, engine, None)
    for row in rows:
        if row.kind == "heading":
            page = f"  p. {row.page}" if row.page else ""
            depth = "  " * ((row.level or 1) - 1)
            typer.echo(f"{depth}{plain(row.text)}  [{row.level} {row.evidence}]{page}")


def chunk(file: File, engine: Engine = None) -> None:
    """The chunks of a file, one JSON a line."""
    from services.chunker.local import chunk_rows

    with _faults_told(), tempfile.TemporaryDirectory(prefix="groundwire-") as name:
        folder = Path(name)
        profiled, rows, diagnostics = _rows(file, engine, folder)
        hashes = {
            str(asset.relative_to(folder)): hashlib.sha256(asset.read_bytes()).hexdigest()
            for asset in folder.rglob("*")
            if asset.is_file()
        }
        made = chunk_rows(profiled, rows, asset_hashes=hashes, engine=diagnostics.engine)
    for piece in made.chunks.chunks:
        sys.stdout.write(piece.model_dump_json(exclude_defaults=True) + "\n")


def plan(
    query: Annotated[str, typer.Argument(help="the query, as it would be searched")],
    taxonomy: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="another taxonomy file")
    ] = None,
) -> None:
    """What a query is understood to ask for: terms, filters, weights, confidence."""
    from services.planner.local import analyse_query

    with _faults_told():
        _print(analyse_query(query, taxonomy))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (profile, parse, headings, chunk, plan):
        app.command(rich_help_panel=PANEL)(command)
