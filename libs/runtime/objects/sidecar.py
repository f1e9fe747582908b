"""What a file cannot say of itself: its sha256 and media type, in a small file beside it.

A sidecar vouches for one state of a file only, its stamp. Whatever else happens to the
file, by a crash between two renames or by a foreign hand, the stamp no longer fits and
the sidecar is not believed.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Stamp:
    """Identifies one state of a file that is replaced and never written in place."""

    inode: int
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Stamp":
        """The stamp of what was looked at."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True)
class Sidecar:
    """`sha256` and `media_type` of the bytes that `stamp` identifies."""

    stamp: Stamp
    sha256: str
    media_type: str | None

    def dump(self) -> bytes:
        """As stored."""
        stamp = self.stamp
        return json.dumps(
            {
                "stamp": {
                    "inode": stamp.inode,
                    "size": stamp.size,
                    "mtime_ns": stamp.mtime_ns,
                },
                "sha256": self.sha256,
                "media_type": self.media_type,
            }
        ).encode()


def load_sidecar(path: Path) -> Sidecar | None:
    """The sidecar at `path`; None when there is none that can be read."""
    try:
        data = json.loads(path.read_bytes())
        return Sidecar(Stamp(**data["stamp"]), data["sha256"], data["media_type"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
