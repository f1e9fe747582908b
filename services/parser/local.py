"""Parse one file without bus and stores, for the command line."""

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

from libs.contracts.artefacts.diagnostics import Diagnostics, Finding
from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.runtime.sandbox.files import sha256_of
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.work import Work
from services.parser.attempts import join_shards, make_sandbox, parse_shard
from services.parser.child import ROWS
from services.parser.rowfile import read_rows
from services.parser.settings import Settings


def parse_file(
    path: Path,
    profile: Profile,
    *,
    engine: str | None = None,
    assets: Path | None = None,
    settings: Settings | None = None,
) -> tuple[list[Row], Diagnostics]:
    """The joined rows of a file that was profiled, made in the sandbox as the service does.

    Assets are kept below the folder `assets`, where one is given. Raises the faults of
    parsing. Must be called in the main thread, where no event loop runs.
    """
    return asyncio.run(_parse(path.absolute(), profile, engine, assets, settings or Settings()))


async def _parse(
    path: Path, profile: Profile, engine: str | None, assets: Path | None, settings: Settings
) -> tuple[list[Row], Diagnostics]:
    with tempfile.TemporaryDirectory(prefix="groundwire-") as name:
        folder = Path(name)
        own = settings.model_copy(update={"scratch_dir": folder})
        sandbox = make_sandbox(own, preload=False)
        await sandbox.start()
        try:
            shards = [
                await _shard(sandbox, path, profile, number, engine, folder)
                for number in range(len(profile.shards))
            ]
            rows, kept, found = await _joined(sandbox, profile, shards, folder)
        finally:
            await sandbox.close()
        if assets is not None:
            _keep(folder, kept, assets)
        findings = [Finding.model_validate(f) for f in found]
        return rows, Diagnostics(engine=shards[0]["engine"], findings=findings)


async def _joined(
    sandbox: Sandbox, profile: Profile, shards: list[dict[str, Any]], folder: Path
) -> tuple[list[Row], list[str], list[Any]]:
    paths = [folder / f"{number}.rows" for number in range(len(shards))]
    if shards[0]["joined"]:
        return list(read_rows(paths)), sorted(shards[0]["media_types"]), shards[0]["findings"]
    sums = [sha256_of(path) for path in paths]
    findings = [[Finding.model_validate(f) for f in s["findings"]] for s in shards]
    async with join_shards(sandbox, profile, paths, sums, findings, Work("local")) as finished:
        result = finished.result
        return list(read_rows([finished.file(ROWS)])), result["assets"], result["findings"]


async def _shard(
    sandbox: Sandbox, path: Path, profile: Profile, number: int, engine: str | None, folder: Path
) -> dict[str, Any]:
    pages = profile.shards[number]
    async with parse_shard(sandbox, path, profile, pages, engine, Work("local")) as finished:
        shutil.copyfile(finished.file(ROWS), folder / f"{number}.rows")
        for name in finished.result["media_types"]:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(finished.file(name), target)
        return finished.result


def _keep(folder: Path, names: list[str], assets: Path) -> None:
    for name in names:
        target = assets / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / name, target)
