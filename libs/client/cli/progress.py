"""How an ingest is shown: bars on a terminal, one line a file elsewhere."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from libs.client.cli.shared import plain, print_line

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


@dataclass(frozen=True)
class Outcome:
    """How a file ended: a state, and the document or the reason."""

    state: str
    detail: str
    failed: bool = False


class Reporter(Protocol):
    """Hears what happens to each file; called from several threads."""

    def begin(self, path: Path, size: int) -> None:
        """A file of `size` bytes is about to be sent."""

    def sent(self, path: Path, count: int) -> None:
        """So many of its bytes are sent."""

    def stage(self, path: Path, stage: str, done: int, total: int) -> None:
        """A service works on it, so far along; total 0 where that is not known."""

    def end(self, path: Path, outcome: Outcome) -> None:
        """It is done with."""


class Lines:
    """One line for each file that ended."""

    def begin(self, path: Path, size: int) -> None:
        """Nothing is shown."""

    def sent(self, path: Path, count: int) -> None:
        """Nothing is shown."""

    def stage(self, path: Path, stage: str, done: int, total: int) -> None:
        """Nothing is shown."""

    def end(self, path: Path, outcome: Outcome) -> None:
        """State, path, and the document or the reason."""
        line = f"{outcome.state}\t{path}\t{outcome.detail}"
        typer.echo(plain(line), err=outcome.failed)


class JsonLines(Lines):
    """One line of JSON for each file that ended."""

    def end(self, path: Path, outcome: Outcome) -> None:
        """State, path, the document or the reason, and whether it failed."""
        print_line(
            {
                "path": str(path),
                "state": outcome.state,
                "detail": outcome.detail,
                "failed": outcome.failed,
            }
        )


class Bars:
    """A bar for all files and one for each that is under way."""

    def __init__(self, progress: "Progress", files: int) -> None:
        self._progress = progress
        self._all = progress.add_task("all files", total=files, note="", visible=files > 1)
        self._tasks: dict[Path, TaskID] = {}

    def begin(self, path: Path, size: int) -> None:
        """A new bar."""
        self._tasks[path] = self._progress.add_task(plain(path.name), total=size, note="sending")

    def sent(self, path: Path, count: int) -> None:
        """The bar grows."""
        self._progress.update(self._tasks[path], completed=count)

    def stage(self, path: Path, stage: str, done: int, total: int) -> None:
        """The bar counts the stage's pages or batches."""
        self._progress.update(
            self._tasks[path], completed=done, total=total or done + 1, note=stage
        )

    def end(self, path: Path, outcome: Outcome) -> None:
        """The bar goes, a line stays."""
        if (task := self._tasks.pop(path, None)) is not None:
            self._progress.remove_task(task)
        mark = "✗" if outcome.failed else "✓"
        line = plain(f"{mark} {path}  {outcome.state}  {outcome.detail}")
        self._progress.print(line, markup=False, highlight=False)
        self._progress.advance(self._all)


@contextmanager
def reporter(files: list[Path], *, as_json: bool = False) -> Iterator[Reporter]:
    """The reporter that fits where standard output goes."""
    if as_json:
        yield JsonLines()
        return
    if not sys.stdout.isatty():
        yield Lines()
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns) as progress:
        yield Bars(progress, len(files))
