"""`groundwire ingest`: files and folders up, each followed until it is published."""

import platform
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from libs.client.cli.files import Snapshot
from libs.client.cli.progress import Outcome, Reporter, reporter
from libs.client.cli.shared import PANEL, JsonOption, client, describe, say_error

if TYPE_CHECKING:
    from libs.client.synchronous import Client
    from libs.contracts.api.ingest import IngestOptions

AT_ONCE = 8
TRIES = 8  # about half a minute, in which a dead gateway is back
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
    as_json: JsonOption = False,
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
    with client(context, namespace, tries=TRIES) as groundwire:
        from libs.contracts.api.ingest import DocumentMetadata, IngestOptions

        options = IngestOptions(
            collection=collection,
            metadata=DocumentMetadata(tags=tag or []),
            wait_for_dense=wait_for_dense,
        )
        failed = send_all(groundwire, files, options, document_id, as_json=as_json)
        if watch:
            _watch(groundwire, snapshot, options, as_json)
    if failed:
        raise typer.Exit(1)


def _watch(
    groundwire: "Client", snapshot: Snapshot, options: "IngestOptions", as_json: bool
) -> None:
    """Send what is added or changed, until Ctrl-C."""
    with suppress(KeyboardInterrupt):
        while True:
            time.sleep(WATCH_SECONDS)
            if settled := snapshot.settled_changes():
                send_all(groundwire, settled, options, None, as_json=as_json)


def send_all(
    groundwire: "Client",
    files: list[Path],
    options: "IngestOptions",
    document_id: str | None,
    *,
    as_json: bool = False,
) -> int:
    """Send the files, some at a time; how many failed."""
    with reporter(files, as_json=as_json) as report, ThreadPoolExecutor(AT_ONCE) as pool:
        sender = Sender(groundwire, options, document_id, report)
        try:
            return sum(outcome.failed for outcome in pool.map(sender.send, files))
        except KeyboardInterrupt:
            sender.stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def path_identity(path: Path) -> str:
    """The document id of a path on this machine: the same file is the same document."""
    from libs.contracts.tokens import document_id_for

    return document_id_for("file", platform.node(), str(path.resolve()))


@dataclass
class Sender:
    """Sends one file after the other, from several threads, and tells how each ended.

    `stop` is set when the user ends it, or when nobody answers: the rest is not tried.
    """

    groundwire: "Client"
    options: "IngestOptions"
    document_id: str | None
    report: Reporter
    stop: threading.Event = field(default_factory=threading.Event)

    def send(self, path: Path) -> Outcome:
        """Send a file and follow it to its end."""
        from libs.client.errors import ApiError, ClientError, Unreachable

        try:
            outcome = self._send(path)
        except ApiError as error:
            outcome = Outcome("refused", describe(error), failed=True)
        except (ClientError, OSError) as error:
            outcome = Outcome("failed", str(error), failed=True)
            if isinstance(error, Unreachable):
                self.stop.set()
        self.report.end(path, outcome)
        return outcome

    def _send(self, path: Path) -> Outcome:
        if self.stop.is_set():
            return Outcome("not sent", "stopped before it", failed=True)
        self.report.begin(path, path.stat().st_size)
        accepted = self.groundwire.ingest(
            path,
            document_id=self.document_id or path_identity(path),
            options=self.options,
            on_bytes=lambda count: self.report.sent(path, count),
        )
        outcome = Outcome("unchanged", f"{accepted.document_id} r{accepted.revision}")
        if accepted.outcome == "unchanged":
            return outcome
        for view in self.groundwire.follow(accepted.job_id):
            self.report.stage(path, view.stage, view.progress.done, view.progress.total)
            detail = view.error.detail if view.error else outcome.detail
            outcome = Outcome(view.state, detail, failed=view.state in UNWANTED)
            if self.stop.is_set():
                break
        return outcome


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command(rich_help_panel=PANEL)(ingest)
