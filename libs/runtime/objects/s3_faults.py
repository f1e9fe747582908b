"""What S3 answers and how its connection fails, as faults."""

import contextlib
from collections.abc import Iterator

from libs.contracts.faults import Code, WorldFault

_ABSENT = {"NoSuchKey", "ResourceNotFound"}
_KEYS = {"AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken"}
_BUSY = {
    "InternalError", "ServiceUnavailable", "SlowDown", "SlowDownRead", "SlowDownWrite",
    "RequestTimeout", "OperationAborted", "IncompleteBody", "BadDigest",
}  # fmt: skip
_FULL = {"XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded"}
_SERVER_ERROR, _NOT_IMPLEMENTED = 500, 501


@contextlib.contextmanager
def answers(key: str | None = None) -> Iterator[None]:
    """Turn an absent `key` into `KeyError`, and a store that is away into `WorldFault`.

    Any other refusal means that we asked wrongly. Causes are left out: the library's errors
    name the object.
    """
    import urllib3
    from minio.error import MinioException, S3Error

    try:
        yield
    except S3Error as error:
        if key is not None and error.code in _ABSENT:
            raise KeyError(key) from None
        raise refused(error.code or "", error.response.status) from None
    except (MinioException, urllib3.exceptions.HTTPError, OSError) as error:
        raise WorldFault(
            Code.STORE_AWAY, f"the object store did not answer: {type(error).__name__}"
        ) from None


def refused(code: str, status: int = 400) -> Exception:
    """The fault that a refusal with this code is; whatever a server says of its own trouble, by
    a `status` of 500 or more, is the world's."""
    if code == "NoSuchBucket":
        detail = "the object store has no such bucket: run `groundwire bootstrap`"
    elif code in _KEYS:
        detail = (
            f"the object store refuses the keys ({code}): see to GROUNDWIRE_OBJECTS_ACCESS_KEY "
            "and GROUNDWIRE_OBJECTS_SECRET_KEY, and to what they may do"
        )
    elif code == "RequestTimeTooSkewed":
        detail = "the object store's clock and this machine's differ too much: see to them"
    elif code in _FULL:
        detail = f"the object store has no room left ({code})"
    elif code in _BUSY or (status >= _SERVER_ERROR and status != _NOT_IMPLEMENTED):
        detail = f"the object store is busy ({code})"
    else:
        return RuntimeError(f"the object store refuses the request: {code}")
    return WorldFault(Code.STORE_AWAY, detail)
