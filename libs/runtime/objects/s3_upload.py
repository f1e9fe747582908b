"""A large object in the making: parts, then one copy into place."""

import contextlib
import hashlib
import secrets
import threading

from libs.contracts.faults import Code, DocumentFault, Fault
from libs.runtime.objects.port import ObjectInfo
from libs.runtime.objects.s3_bucket import S3Bucket, metadata_of, with_md5
from libs.runtime.objects.s3_client import INTERNALS
from libs.runtime.objects.s3_faults import answers

PART_BYTES = 8 << 20
"""Size of every part but the last; S3 wants at least 5 MiB."""

MAX_PARTS = 10_000
"""As in S3: so 80 GiB is the most."""


class PartsUpload:
    """Parts are gathered under a name of their own, where no reader looks.

    An object's metadata is given before its first byte, its sha256 known after its last:
    so the finished whole is copied to its key, within the server, with both.

    `abort` may come while another thread still adds, as it does when a task is cancelled:
    it waits for that part, and later ones fail.
    """

    def __init__(self, bucket: S3Bucket) -> None:
        self._bucket = bucket
        self._place = f"{INTERNALS}/uploads/{secrets.token_hex(16)}"
        self._lock = threading.Lock()
        self._upload: str | None = None
        self._etags: list[str] = []
        self._sha256 = hashlib.sha256()
        self._size = 0
        self._over = False

    def add(self, data: bytes) -> None:
        """Send the next part."""
        client, name = self._bucket.client, self._bucket.name
        with self._lock:
            if self._over:
                raise RuntimeError("this upload is over")
            if len(self._etags) == MAX_PARTS:
                raise DocumentFault(
                    Code.TOO_LARGE, f"the file is larger than {MAX_PARTS * PART_BYTES} bytes"
                )
            with answers():
                if self._upload is None:
                    self._upload = client._create_multipart_upload(name, self._place, {})
                etag = client._upload_part(
                    name, self._place, data, with_md5({}, data), self._upload, len(self._etags) + 1
                )
            self._etags.append(etag)
            self._sha256.update(data)
            self._size += len(data)

    def finish(self, key: str, media_type: str | None) -> ObjectInfo:
        """Make the whole visible under `key`."""
        from minio.commonconfig import REPLACE, CopySource
        from minio.datatypes import Part

        client, name = self._bucket.client, self._bucket.name
        with self._lock:
            if self._over or self._upload is None:
                raise RuntimeError("this upload is over, or has no part")
            self._over = True
            sha256 = self._sha256.hexdigest()
            parts = [Part(number, etag) for number, etag in enumerate(self._etags, 1)]
            try:
                with answers():
                    client._complete_multipart_upload(name, self._place, self._upload, parts)
                    client.copy_object(
                        name,
                        key,
                        CopySource(name, self._place),
                        metadata=metadata_of(sha256, media_type),
                        metadata_directive=REPLACE,
                    )
            finally:
                self._clear()
            return ObjectInfo(key, self._size, sha256, media_type)

    def abort(self) -> None:
        """Leave nothing behind of an upload that was not finished."""
        with self._lock:
            if not self._over:
                self._over = True
                self._clear()

    def _clear(self) -> None:
        """What cannot be removed now expires (`s3_client.prepare`)."""
        if self._upload is None:
            return
        client, name = self._bucket.client, self._bucket.name
        with contextlib.suppress(Fault, KeyError, RuntimeError), answers():
            client.remove_object(name, self._place)
        with contextlib.suppress(Fault, KeyError, RuntimeError), answers():
            client._abort_multipart_upload(name, self._place, self._upload)
