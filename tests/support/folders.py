"""Folders of one run of tests: removed when it ends, or by the next run where it was killed."""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = "groundwire-run-"
MOUNTS = Path("/proc/self/mounts")


def fast_folder() -> Path | None:
    """Memory-backed storage where there is some: syncing to disk is slow on shared machines."""
    shm = Path("/dev/shm")
    return shm if shm.is_dir() and os.access(shm, os.W_OK) else None


@contextmanager
def run_folder(name: str, base: Path | None = None) -> Iterator[Path]:
    """A fresh folder whose name begins with `name`, in fast storage unless `base` says where.

    This process holds a lock on it, which ends however the process ends; folders below `base`
    that nobody holds any more are removed first.
    """
    base = base or fast_folder() or Path(tempfile.gettempdir())
    with _locked(base):
        _remove_abandoned(base)
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{name}-", dir=base))
        held = os.open(folder, os.O_RDONLY)
        fcntl.flock(held, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        remove(folder)
        os.close(held)


def remove(folder: Path) -> None:
    """Remove a folder, what is mounted below it first."""
    for place in mounted_below(folder):
        subprocess.run(["umount", "--lazy", str(place)], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


def mounted_below(folder: Path) -> list[Path]:
    """Where something is mounted in a folder, the innermost first."""
    with suppress(OSError):
        lines = MOUNTS.read_text(encoding="utf-8").splitlines()
        places = [Path(line.split(" ")[1]) for line in lines]
        return [place for place in reversed(places) if place.is_relative_to(folder)]
    return []


def _remove_abandoned(base: Path) -> None:
    for folder in base.glob(f"{PREFIX}*"):
        with suppress(OSError), _locked(folder, wait=False):
            remove(folder)


@contextmanager
def _locked(folder: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a folder's lock. Raises `BlockingIOError` where another does, unless it waits."""
    held = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        yield
    finally:
        os.close(held)
