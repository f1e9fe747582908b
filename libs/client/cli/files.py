"""Finding files below paths, and noticing which were added or changed."""

from collections.abc import Iterable, Iterator
from pathlib import Path

State = tuple[int, int]


def find_files(paths: Iterable[Path]) -> Iterator[Path]:
    """Files named, and those below folders named; hidden ones and links to folders left out."""
    for path in paths:
        if path.is_dir():
            below = sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))
            yield from find_files(e for e in below if not (e.is_symlink() and e.is_dir()))
        elif path.is_file():
            yield path


def _state(path: Path) -> State | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class Snapshot:
    """What the files below some paths looked like when they were last taken."""

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self._taken: dict[Path, State | None] = {}
        self._seen: dict[Path, State | None] = {}

    def files(self) -> list[Path]:
        """Every file there is now, each once; they count as taken."""
        self._taken = self._look()
        self._seen = dict(self._taken)
        return list(self._taken)

    def settled_changes(self) -> list[Path]:
        """Files added or changed since they were taken, and at rest since the last look."""
        now = self._look()
        settled = [
            path
            for path, state in now.items()
            if state != self._taken.get(path) and state == self._seen.get(path)
        ]
        self._seen = now
        self._taken.update({path: now[path] for path in settled})
        return settled

    def _look(self) -> dict[Path, State | None]:
        return {path: _state(path) for path in find_files(self._paths)}
