"""`groundwire ingest`: files and folders up, each followed until it is published."""

import platform
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.files import Snapshot
from libs.client.cli.progress import Outcome, Reporter, reporter
from libs.client.cli.shared import PANEL, client, describe, say_error

if TYPE_CHECKING:
    from libs.client.synchronous import Client
    from libs.contracts.api.ingest import IngestOptions

AT_ONCE = 8
WATCH_SECONDS = 1.0
UNWANTED = frozenset({"failed", "cancelled"})


def ingest(
    context: typer.Context,
    paths: Annotated[list[Path], typer.Argument(help="files, or folders with all below them")],
    namespace: Annotated[str | None, typer.Option(help="namespace to ingest into")] = None,
    collection: Annotated[str, typer.Option(help="collection of the documents")] = "default",
    tag: Annotated[list[str] | None, typer.Option(help="a tag of the documents")] = None,
    document_id: Annotated[
        str | None, typer.Option(help="id of the document, for a single file")
    ] = None,
    wait_for_dense: Annotated[
        bool, typer.Option("--wait-for-dense", help="publish only with vectors")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="stay, and ingest what is added or changed")
    ] = False,
) -> None:
    """Send files and folders; exit code 1 if one failed.

    A path is one document: sent again, it becomes the next revision, and an unchanged file
    makes none.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        say_error(f"there is no {missing[0]}")
        raise typer.Exit(2)
    snapshot = Snapshot(paths)
    files = snapshot.files()
    if document_id is not None and (len(files) != 1 or watch):
        say_error("--document-id names one document: give it with exactly one file")
        raise typer.Exit(2)
    if not files and not watch:
        say_error("there is no file below what was named")
        raise typer.Exit(2)
    with client(context, namespace) as groundwire:
        from libs.contracts.api.ingest import DocumentMetadata, IngestOptions

        options = IngestOptions(
            collection=collection,
            metadata=DocumentMetadata(tags=tag or []),
            wait_for_dense=wait_for_dense,
        )
        failed = send_all(groundwire, files, options, document_id)
        while watch:
            time.sleep(WATCH_SECONDS)
            if settled := snapshot.settled_changes():
                send_all(groundwire, settled, options, None)
    if failed:
        raise typer.Exit(1)


def send_all(
    groundwire: "Client", files: list[Path], options: "IngestOptions", document_id: str | None
) -> int:
    """Send the files, some at a time; how many failed."""
    with reporter(files) as report, ThreadPoolExecutor(AT_ONCE) as pool:
        ends: Iterable[Outcome] = pool.map(
            lambda path: _send(groundwire, path, options, document_id, report), files
        )
        return sum(outcome.failed for outcome in ends)


def path_identity(path: Path) -> str:
    """The document id of a path on this machine: the same file is the same document."""
    from libs.contracts.tokens import document_id_for

    return document_id_for("file", platform.node(), str(path.resolve()))


def _send(
    groundwire: "Client",
    path: Path,
    options: "IngestOptions",
    document_id: str | None,
    report: Reporter,
) -> Outcome:
    from libs.client.errors import ApiError, ClientError

    try:
        report.begin(path, path.stat().st_size)
        accepted = groundwire.ingest(
            path,
            document_id=document_id or path_identity(path),
            options=options,
            on_bytes=lambda count: report.sent(path, count),
        )
        outcome = Outcome("unchanged", f"{accepted.document_id} r{accepted.revision}")
        if accepted.outcome != "unchanged":
            for view in groundwire.follow(accepted.job_id):
                report.stage(path, view.stage, view.progress.done, view.progress.total)
                detail = view.error.detail if view.error else outcome.detail
                outcome = Outcome(view.state, detail, failed=view.state in UNWANTED)
    except ApiError as error:
        outcome = Outcome("refused", describe(error), failed=True)
    except (ClientError, OSError) as error:
        outcome = Outcome("failed", str(error), failed=True)
    report.end(path, outcome)
    return outcome


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=PANEL)(ingest)
