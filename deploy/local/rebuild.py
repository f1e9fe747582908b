"""`groundwire rebuild`: catalog, search and graph made again from the objects alone."""

import asyncio
import shutil
import sys
from dataclasses import asdict
from pathlib import Path
from typing import cast

import orjson

from deploy.local.alone import ServicesRun, alone
from deploy.local.bootstrap import prepare_stores
from deploy.local.steps import shown_steps
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
        with alone(settings, "a rebuild"), shown_steps() as tell:
            report = asyncio.run(make_again(settings, targets, tell))
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


async def make_again(settings: Settings, targets: frozenset[Target], tell: Tell) -> Report:
    """Make the targets again; nothing else may work on the stores. Raises as `rebuild` does."""
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
