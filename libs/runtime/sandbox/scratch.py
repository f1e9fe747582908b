"""Scratch folders: one per attempt, below one per process, swept when their owner died."""

import fcntl
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path

LOCK = ".owner"


class ScratchRoot:
    """An own folder below `parent`, held by a lock on a file inside it.

    Folders of dead owners are removed when a new owner comes; a lock ends with its process,
    whatever ended that.
    """

    def __init__(self, parent: Path) -> None:
        parent.mkdir(parents=True, exist_ok=True)
        sweep(parent)
        self.path = Path(tempfile.mkdtemp(prefix="run-", dir=parent)).absolute()
        self._lock = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def attempt(self) -> Path:
        """A fresh folder with `work/` and `out/` inside."""
        folder = Path(tempfile.mkdtemp(prefix="attempt-", dir=self.path))
        (folder / "work").mkdir()
        (folder / "out").mkdir()
        return folder

    def remove(self) -> None:
        """Remove the folder and all in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._lock)


def sweep(parent: Path) -> int:
    """Remove the folders below `parent` that no living process holds; how many."""
    removed = 0
    for folder in parent.glob("run-*"):
        with suppress(OSError):
            lock = os.open(folder / LOCK, os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                removed += 1
            finally:
                os.close(lock)
    return removed
