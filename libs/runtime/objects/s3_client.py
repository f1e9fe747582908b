"""The S3 client library, set up: time limits, a few retries, keys, and the bucket itself."""

from typing import TYPE_CHECKING

from libs.runtime.objects.s3_faults import answers
from libs.runtime.objects.s3_place import S3Keys, S3Place
from libs.runtime.telemetry import logger

if TYPE_CHECKING:
    from minio import Minio
    from minio.credentials.providers import Provider

log = logger("objects.s3")

INTERNALS = ".store"
"""First part of the keys that are the adapter's own: objects in the making."""

CONNECT_SECONDS = 3.0
READ_SECONDS = 30.0
RETRIES = 2
KEPT_DAYS = 1  # of what killed uploads left behind


def connect(place: S3Place, keys: S3Keys | None, connections: int) -> "Minio":
    """A client for so many threads; no I/O yet.

    Without `keys` those of the machine are used: its environment, or its role.
    """
    import certifi
    import urllib3
    from minio import Minio

    http = urllib3.PoolManager(
        timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS),
        retries=urllib3.Retry(
            total=RETRIES,
            read=1,
            backoff_factor=0.2,
            status_forcelist=(500, 502, 503, 504),
            raise_on_status=False,
        ),
        maxsize=connections,
        cert_reqs="CERT_REQUIRED",
        ca_certs=certifi.where(),
    )
    return Minio(
        place.host,
        secure=place.secure,
        region=place.region,
        credentials=_provider(keys),
        http_client=http,
    )


def _provider(keys: S3Keys | None) -> "Provider":
    from minio.credentials.providers import (
        ChainedProvider,
        EnvAWSProvider,
        IamAwsProvider,
        StaticProvider,
    )

    if keys is not None:
        return StaticProvider(keys.access, keys.secret)
    return ChainedProvider([EnvAWSProvider(), IamAwsProvider()])


def prepare(place: S3Place, keys: S3Keys | None) -> None:
    """Make the bucket when it is absent, and let what killed uploads left behind expire.

    A bucket that was there keeps the rules it has. Raises `WorldFault(STORE_AWAY)`.
    """
    from minio.error import S3Error

    client = connect(place, keys, 1)
    with answers():
        if not client.bucket_exists(place.bucket):
            try:
                client.make_bucket(place.bucket)
            except S3Error as error:
                if error.code != "BucketAlreadyOwnedByYou":  # another was quicker
                    raise
            _let_leftovers_expire(client, place.bucket)


def _let_leftovers_expire(client: "Minio", bucket: str) -> None:
    from minio.commonconfig import ENABLED, Filter
    from minio.error import S3Error
    from minio.lifecycleconfig import (
        AbortIncompleteMultipartUpload,
        Expiration,
        LifecycleConfig,
        Rule,
    )

    rule = Rule(
        ENABLED,
        rule_filter=Filter(prefix=f"{INTERNALS}/"),
        rule_id="groundwire-leftovers",
        abort_incomplete_multipart_upload=AbortIncompleteMultipartUpload(KEPT_DAYS),
        expiration=Expiration(days=KEPT_DAYS),
    )
    try:
        client.set_bucket_lifecycle(bucket, LifecycleConfig([rule]))
    except S3Error as error:
        log.warning("what killed uploads leave behind will not expire", code=error.code)
