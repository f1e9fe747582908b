"""Parse one file without bus and stores, for the command line."""

import asyncio
import shutil
import tempfile
from pathlib import Path

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
        sandbox = make_sandbox(
            settings.model_copy(update={"scratch_dir": folder, "parser_preload_delay": 3600.0})
        )
        await sandbox.start()
        try:
            shards = [
                await _shard(sandbox, path, profile, number, engine, folder)
                for number in range(len(profile.shards))
            ]
            findings = [[Finding.model_validate(f) for f in s["findings"]] for s in shards]
            rows = [folder / f"{number}.rows" for number in range(len(shards))]
            sums = [sha256_of(path) for path in rows]
            work = Work("local")
            async with join_shards(sandbox, profile, rows, sums, findings, work) as joined:
                if assets is not None:
                    _keep(folder, joined.result["assets"], assets)
                found = [Finding.model_validate(f) for f in joined.result["findings"]]
                diagnostics = Diagnostics(engine=shards[0]["engine"], findings=found)
                return list(read_rows([joined.file(ROWS)])), diagnostics
        finally:
            await sandbox.close()


async def _shard(
    sandbox: Sandbox, path: Path, profile: Profile, number: int, engine: str | None, folder: Path
) -> dict[str, list[object]]:
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
