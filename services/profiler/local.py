"""Profile one file without bus and stores, for the command line."""

import asyncio
import tempfile
from pathlib import Path

from libs.contracts.artefacts.profile import Profile
from libs.contracts.tokens import safe_file_name
from libs.runtime.sandbox.files import sha256_of
from libs.runtime.work import Work
from services.profiler.look import Source, look, make_sandbox
from services.profiler.settings import Settings


def profile_path(path: Path, settings: Settings | None = None) -> Profile:
    """The profile of the file at `path`, made in the sandbox as the service does.

    Raises the faults of the look; `OSError` when there is no such file. Must be called in
    the main thread, where no event loop runs.
    """
    name, size = safe_file_name(path.name), path.stat().st_size
    source = Source(path.absolute(), name, size, sha256_of(path))
    return asyncio.run(_profile(source, settings or Settings()))


async def _profile(source: Source, settings: Settings) -> Profile:
    with tempfile.TemporaryDirectory(prefix="groundwire-") as folder:
        own = settings.model_copy(update={"scratch_dir": Path(folder)})
        sandbox = make_sandbox(own, preload=False)
        await sandbox.start()
        try:
            profile, _ = await look(sandbox, source, settings.bounds(), Work("local"))
            return profile
        finally:
            await sandbox.close()
