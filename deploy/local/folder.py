"""The data folder of one machine: its layout, its lock, and the notes that services leave."""

import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from deploy.local.ports import command_line


class FolderTaken(Exception):
    """Another supervisor runs on the folder; the message says which."""


def write_private(path: Path, text: str) -> None:
    """Replace a file, whole, by one that only this user may read."""
    made = path.with_name(f".{path.name}.{os.getpid()}")
    made.unlink(missing_ok=True)
    handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    made.replace(path)


@dataclass(frozen=True)
class DataFolder:
    """Paths below `GROUNDWIRE_DATA_DIR`; made for this user alone."""

    root: Path

    @property
    def run(self) -> Path:
        """What the running processes note: `<stage>.json` with pid and probe port."""
        return self.root / "run"

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self.root / "logs"

    @property
    def nats(self) -> Path:
        """The bus server's store."""
        return self.root / "nats"

    @property
    def bus_url_file(self) -> Path:
        """Where upstream systems on this machine find the own bus, credentials included."""
        return self.run / "nats.url"

    @property
    def key_file(self) -> Path:
        """The local key, when it was made here."""
        return self.root / "key"

    def make(self) -> None:
        """Make the folders that are missing."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.run, self.logs, self.nats):
            folder.mkdir(mode=0o700, exist_ok=True)

    def lock(self, url: str) -> IO[str]:
        """Claim the folder for this process until the returned file is closed.

        The file tells others the process and the address it serves. Raises `FolderTaken`
        when another supervisor has it. Children inherit the claim, so it also holds while
        any of them is still alive.
        """
        file = (self.run / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            message = self._taken(file.read())
            file.close()
            raise FolderTaken(message) from None
        file.truncate(0)
        json.dump({"pid": os.getpid(), "url": url}, file)
        file.flush()
        return file

    def _taken(self, note: str) -> str:
        try:
            holder = json.loads(note)
            pid, url = int(holder["pid"]), str(holder["url"])
        except (ValueError, KeyError, TypeError):
            who = "another process"
        else:
            who = f"process {pid} ({command_line(pid)}), which serves {url}"
        return (
            f"the data folder {self.root} is in use by {who}; "
            "stop it, or choose another folder with GROUNDWIRE_DATA_DIR"
        )

    def forget_runs(self) -> None:
        """Remove the notes of processes that ran before."""
        for note in (*self.run.glob("*.json"), self.bus_url_file):
            note.unlink(missing_ok=True)

    def noted(self, stage: str) -> tuple[int, int] | None:
        """Process id and probe port that a service noted last; None when it did not."""
        try:
            note = json.loads((self.run / f"{stage}.json").read_text(encoding="utf-8"))
            return int(note["pid"]), int(note["probe_port"])
        except (OSError, ValueError, KeyError, TypeError):
            return None
