"""The folder of provisioned programs: made once, stamped by what made them, checksums kept."""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_SUMS = "SHA256SUMS"


def cache_folder() -> Path:
    """Where programs are kept: the user's cache, or one that every user can read for root.

    Servers that refuse to run as root must reach their files with another user's rights.
    """
    if given := os.environ.get("XDG_CACHE_HOME"):
        return Path(given) / "groundwire"
    if os.geteuid() == 0:
        return Path("/var/cache/groundwire")
    return Path.home() / ".cache" / "groundwire"


def stamped(cache: Path, name: str, recipe: bytes, make: Callable[[Path], None]) -> Path:
    """The folder `<cache>/<name>-<hash of recipe>`, filled by `make` when it is not there.

    `recipe` is all that decides the content: versions, lock files, patches. `make` gets an
    empty folder, which is renamed into place when it is complete, its checksums beside its
    files; so nothing half made is ever found, and absolute paths must not be kept in it. A
    folder whose files no longer fit their checksums is made again. Processes take turns.
    """
    folder = located(cache, name, recipe)
    with _locked(cache, folder.name):
        if folder.is_dir() and is_sound(folder):
            return folder
        building = cache / f".{folder.name}.building"
        for old in (folder, building):
            shutil.rmtree(old, ignore_errors=True)
        building.mkdir(mode=0o755)
        try:
            make(building)
            (building / _SUMS).write_text("".join(_sums(building)))
            building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return folder


def located(cache: Path, name: str, recipe: bytes) -> Path:
    """Where `stamped` keeps this; whether it is there is not looked at."""
    return cache / f"{name}-{hashlib.sha256(recipe).hexdigest()[:16]}"


def is_sound(folder: Path) -> bool:
    """Whether the files of a stamped folder are those that were made."""
    try:
        return (folder / _SUMS).read_text() == "".join(_sums(folder))
    except OSError:
        return False


def _sums(folder: Path) -> Iterator[str]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path != folder / _SUMS:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            yield f"{digest}  {path.relative_to(folder)}\n"


@contextmanager
def _locked(cache: Path, name: str) -> Iterator[None]:
    cache.mkdir(parents=True, exist_ok=True, mode=0o755)
    with (cache / f".{name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
