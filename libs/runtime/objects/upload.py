"""Writing one object: into a temporary file, then into place by rename."""

import contextlib
import hashlib
import os
import threading
from pathlib import Path
from typing import BinaryIO

from libs.contracts.faults import Code, DocumentFault
from libs.runtime.objects.layout import Layout, store_call, sync_folder
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.sidecar import Sidecar, Stamp


class Upload:
    """An object in the making, visible only from `commit` on.

    `discard` may come while another thread still writes, as it does when a task is
    cancelled: it waits for that write, and later ones fail.
    """

    def __init__(self, layout: Layout, key: str, max_bytes: int | None) -> None:
        self._layout = layout
        self._key = key
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._over = False
        self._path: Path | None = None
        self._file: BinaryIO | None = None
        self._sha256 = hashlib.sha256()
        self._size = 0

    @store_call
    def write(self, data: bytes) -> None:
        """Append `data`; `DocumentFault(TOO_LARGE)` beyond the limit."""
        with self._lock:
            self._append(data)

    @store_call
    def commit(self, rest: bytes, media_type: str | None, durable: bool) -> ObjectInfo:
        """Append `rest` and make the object visible, in place of any before."""
        with self._lock:
            path, file = self._append(rest)
            file.flush()
            if durable:
                os.fsync(file.fileno())
            stamp = Stamp.of(os.fstat(file.fileno()))
            file.close()
            sidecar = Sidecar(stamp, self._sha256.hexdigest(), media_type)
            info = publish(self._layout, self._key, path, sidecar, durable=durable)
            self._over = True
            return info

    @store_call
    def discard(self) -> None:
        """Leave nothing behind of an upload that was not committed."""
        with self._lock:
            if self._over:
                return
            self._over = True
            if self._file is not None:
                with contextlib.suppress(OSError):  # a flush to a full disk
                    self._file.close()
            if self._path is not None:
                self._path.unlink(missing_ok=True)

    def _append(self, data: bytes) -> tuple[Path, BinaryIO]:
        if self._over:
            raise RuntimeError("this upload is over")
        self._size += len(data)
        if self._max_bytes is not None and self._size > self._max_bytes:
            raise DocumentFault(
                Code.TOO_LARGE, f"the file is larger than the limit of {self._max_bytes} bytes"
            )
        if self._path is None or self._file is None:
            self._layout.path(self._key)
            self._path = self._layout.temporary()
            self._file = self._path.open("xb")
        self._file.write(data)
        self._sha256.update(data)
        return self._path, self._file


def publish(
    layout: Layout, key: str, temporary: Path, sidecar: Sidecar, *, durable: bool = False
) -> ObjectInfo:
    """Rename the finished `temporary` to `key`, with its sidecar, as one change of the key.

    Killed in between, the object is there without a sidecar that fits, which readers mend.
    """
    target = layout.path(key)
    try:
        with layout.scratch() as note:
            with note.open("xb") as file:
                file.write(sidecar.dump())
                if durable:
                    file.flush()
                    os.fsync(file.fileno())
            with layout.locked(key):
                touched = layout.replace(temporary, target)
                touched += layout.replace(note, layout.sidecar(key))
    except (NotADirectoryError, IsADirectoryError, FileExistsError):
        raise ValueError("on a file system no object can lie below another's key") from None
    if durable:
        for folder in touched:
            sync_folder(folder)
    return ObjectInfo(key, sidecar.stamp.size, sidecar.sha256, sidecar.media_type)
