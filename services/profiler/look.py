"""Have one file looked at in the sandbox: the same for the service and the command line."""

from dataclasses import asdict, dataclass
from pathlib import Path

from libs.contracts.artefacts.profile import Profile
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.work import Work
from services.profiler.child import PRELOAD, PROFILE
from services.profiler.profile import Bounds
from services.profiler.settings import Settings


@dataclass(frozen=True)
class Source:
    """The file to look at: where it lies, what it is called, and what is known of it."""

    path: Path
    file_name: str
    size: int
    sha256: str
    declared: str | None = None


def make_sandbox(settings: Settings, *, preload: bool = True) -> Sandbox:
    """The profiler's sandbox, not yet started; `preload` pays when many files will come."""
    return Sandbox(
        [PROFILE],
        settings.scratch(),
        limits=settings.limits(),
        slots=settings.profiler_slots,
        preload=PRELOAD if preload else (),
        preload_delay=settings.profiler_preload_delay,
    )


async def look(sandbox: Sandbox, source: Source, bounds: Bounds, work: Work) -> tuple[Profile, str]:
    """The profile of `source` and a sample of its text, empty where it has none at hand.

    Raises what the look and `Sandbox.run` raise.
    """
    arguments = {**asdict(source), "path": str(source.path), "bounds": asdict(bounds)}
    async with sandbox.run(PROFILE, arguments, work=work) as finished:
        return Profile.model_validate(finished.result["profile"]), str(finished.result["sample"])
