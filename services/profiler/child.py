"""What runs in the sandbox: the look at one untrusted file."""

from pathlib import Path
from typing import Any

from libs.runtime.sandbox.child import Attempt
from libs.runtime.sandbox.files import verify
from services.profiler.profile import Bounds, profile_file

PROFILE = "services.profiler.child:profile"
SAMPLE = 4_000
"""Characters of the sample."""
PRELOAD = (
    "services.profiler.child",
    "pypdfium2",
    "olefile",
    "defusedxml.ElementTree",
    "charset_normalizer",
    "PIL.Image",
)


def profile(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """The `profile` of the file at `path`, if it still has its sha256 (see `profile_file`), and a
    `sample` of its text."""
    given = dict(arguments)
    path = Path(given.pop("path"))
    verify([(path, given["sha256"])])
    samples: list[str] = []
    made = profile_file(
        path,
        bounds=Bounds(**given.pop("bounds")),
        progress=attempt.progress,
        tell=samples.append,
        **given,
    )
    sample = " ".join(" ".join(samples).split())[:SAMPLE]
    return {"profile": made.model_dump(mode="json"), "sample": sample}
