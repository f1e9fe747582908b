"""Log files of the local processes: kept to a size, and their errors brought to the terminal."""

import json
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MAX_BYTES = 16 << 20
KEPT = 3
REPEAT_SECONDS = 10.0
_LOUD = {"error", "critical"}


def rotate(log: Path, *, max_bytes: int = MAX_BYTES) -> None:
    """Move a log that is over its size aside as `.1`, older ones to `.2` and `.3`.

    The content is copied and the file emptied, so a process that appends to it goes on.
    """
    try:
        if log.stat().st_size <= max_bytes:
            return
    except FileNotFoundError:
        return
    for number in range(KEPT - 1, 0, -1):
        with suppress(FileNotFoundError):
            Path(f"{log}.{number}").replace(f"{log}.{number + 1}")
    shutil.copyfile(log, f"{log}.1")
    Path(f"{log}.1").chmod(0o600)
    with log.open("r+b") as file:
        file.truncate(0)


class ErrorTail:
    """Follows the logs and says each new kind of error once in a while, not every line."""

    def __init__(self, logs: dict[str, Path], say: Callable[[str], None]) -> None:
        self._say = say
        self._logs = logs
        self._read = {name: log.stat().st_size if log.exists() else 0 for name, log in logs.items()}
        self._said: dict[tuple[str, str], float] = {}

    def look(self) -> None:
        """Read what was written since the last look."""
        for name, log in self._logs.items():
            for line in self._new_lines(name, log):
                self._consider(name, line)
            rotate(log)

    def _new_lines(self, name: str, log: Path) -> list[bytes]:
        try:
            size = log.stat().st_size
            if size < self._read[name]:
                self._read[name] = 0
            if size == self._read[name]:
                return []
            with log.open("rb") as file:
                file.seek(self._read[name])
                text = file.read(1 << 20)
        except OSError:
            return []
        whole, newline, _ = text.rpartition(b"\n")
        self._read[name] += len(whole) + len(newline)
        return whole.splitlines()

    def _consider(self, name: str, line: bytes) -> None:
        if not line.startswith(b"{"):
            return
        with suppress(ValueError):
            entry = json.loads(line)
            if entry.get("level") not in _LOUD:
                return
            event = str(entry.get("event", "error"))
            now = time.monotonic()
            if now - self._said.get((name, event), -REPEAT_SECONDS) >= REPEAT_SECONDS:
                self._said[name, event] = now
                detail = entry.get("error") or entry.get("code") or ""
                self._say(
                    f"{name}: {event}{f' ({detail})' if detail else ''}, see {self._logs[name]}"
                )


def last_lines(log: Path, count: int = 5) -> list[str]:
    """The end of a log, for a process that does not come up."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 8192))
            return file.read().decode("utf-8", "replace").splitlines()[-count:]
    except OSError:
        return []
