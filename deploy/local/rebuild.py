"""`groundwire rebuild`: catalog, search and graph made again from the objects alone."""

import asyncio
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import cast

import orjson

from deploy.local.alone import ServicesRun, alone
from deploy.local.bootstrap import prepare_stores
from libs.contracts.faults import Fault
from libs.runtime.bus import Bus
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.settings import Settings
from libs.runtime.stores import Stores
from services.indexer.deps import Deps
from services.indexer.rebuild import NothingToRebuildFrom, Report, Target, Tell, rebuild
from services.indexer.settings import Settings as IndexerSettings


def run(settings: Settings, targets: frozenset[Target], *, as_json: bool) -> int:
    """Make the targets again and say what was made; the number to exit with."""
    try:
        with alone(settings, "a rebuild"), _shown() as tell:
            report = asyncio.run(_rebuild(settings, targets, tell))
    except (ServicesRun, NothingToRebuildFrom) as refused:
        print(f"nothing was changed: {refused}", file=sys.stderr)
        return 1
    except Fault as fault:
        print(f"the rebuild stopped and can be run again: {fault.detail}", file=sys.stderr)
        return 1
    except ValueError as error:
        print(f"a store's URL is wrong: {error}", file=sys.stderr)
        return 2
    _print(report, as_json)
    return int(bool(report.troubles))


async def _rebuild(settings: Settings, targets: frozenset[Target], tell: Tell) -> Report:
    await prepare_stores(settings)
    stores = Stores(settings, index_writer=True)
    deps = Deps(cast(Bus, None), stores, tokenize, IndexerSettings())  # nothing is announced

    def begin() -> None:
        if "search" in targets:
            _remove_local_index(settings)

    try:
        return await rebuild(deps, targets, tell, begin)
    finally:
        await stores.close()


def _remove_local_index(settings: Settings) -> None:
    """Begin from nothing where the index is a folder, even one that cannot be opened."""
    scheme, _, path = settings.resolved_index_url().partition(":")
    if scheme == "file":
        shutil.rmtree(Path(path.removeprefix("//")), ignore_errors=True)


@contextmanager
def _shown() -> Iterator[Tell]:
    """A bar for each step on a terminal's standard error, a line for each elsewhere."""
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TaskID, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description:<32}"), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        tasks: dict[str, TaskID] = {}

        def tell(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = progress.add_task(step, total=total)
            progress.update(tasks[step], completed=done, total=total)
            if done == total and not console.is_terminal:
                print(f"{step} {done}/{total}", file=sys.stderr)

        yield tell


def _print(report: Report, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(orjson.dumps(asdict(report)).decode() + "\n")
        return
    for one in report.troubles:
        where = "" if one.revision is None else f" revision {one.revision}"
        print(f"{one.namespace}/{one.document_id}{where}: {one.detail}", file=sys.stderr)
    counted = ", ".join(
        f"{count} {name}"
        for name, count in asdict(report).items()
        if isinstance(count, int) and count
    )
    print(f"made again: {counted or 'nothing'}")
