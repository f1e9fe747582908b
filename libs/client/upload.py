"""A file on its way up: streamed from disk, read anew for every try, never held in memory."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

OnBytes = Callable[[int], None]


class _Counted(io.BufferedReader):
    """A file that tells how much of it was read so far."""

    def __init__(self, path: Path, on_bytes: OnBytes | None) -> None:
        super().__init__(io.FileIO(path))
        self._on_bytes = on_bytes

    def read(self, size: int | None = -1) -> bytes:
        """As `BufferedReader.read`."""
        data = super().read(size)
        if self._on_bytes is not None:
            self._on_bytes(self.tell())
        return data


@dataclass(frozen=True)
class Upload:
    """A file and the form fields beside it. `on_bytes` hears how many bytes are read so far."""

    path: Path
    file_name: str
    fields: dict[str, str] = field(default_factory=dict)
    on_bytes: OnBytes | None = None

    def open(self) -> io.BufferedReader:
        """The file, from its start."""
        return _Counted(self.path, self.on_bytes)
