"""Where an S3 bucket is: the parts of an `s3:` URL."""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

DEFAULT_ENDPOINT = "https://s3.amazonaws.com"
FORM = "s3://<bucket>?endpoint=https://<host>"

_BUCKET = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_REGION = re.compile(r"[a-z0-9-]{1,32}")


@dataclass(frozen=True)
class S3Keys:
    """An access key and its secret."""

    access: str
    secret: str = field(repr=False)


@dataclass(frozen=True)
class S3Place:
    """A bucket on a server.

    `tree_order` says that the server lists a folder's content right after the folder's
    name, as SeaweedFS does, and not by whole keys, as S3 and MinIO do.
    """

    bucket: str
    host: str
    secure: bool
    region: str = "us-east-1"
    tree_order: bool = False

    @classmethod
    def of(cls, url: str) -> "S3Place":
        """The place that `s3://<bucket>` names; `ValueError` for anything else.

        Options: `endpoint` (default AWS), `region`, and `listing=tree`. Keys are settings,
        never part of the URL, which may be shown.
        """
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        endpoint = urlsplit(options.pop("endpoint", DEFAULT_ENDPOINT))
        region = options.pop("region", cls.region)
        listing = options.pop("listing", "keys")
        if parts.username or parts.password or endpoint.username or endpoint.password:
            raise ValueError(
                "an s3: URL holds no keys: use GROUNDWIRE_OBJECTS_ACCESS_KEY and "
                "GROUNDWIRE_OBJECTS_SECRET_KEY"
            )
        if (
            parts.scheme != "s3"
            or not _BUCKET.fullmatch(parts.netloc)
            or parts.path not in ("", "/")
            or parts.fragment
        ):
            raise ValueError(f"not the URL of a bucket: use {FORM}")
        if (
            endpoint.scheme not in ("http", "https")
            or not endpoint.hostname
            or endpoint.path not in ("", "/")
        ):
            raise ValueError(
                f"the endpoint of an s3: URL is http://<host> or https://<host>: {FORM}"
            )
        if options or listing not in ("keys", "tree") or not _REGION.fullmatch(region):
            raise ValueError("an s3: URL takes the options endpoint, region and listing=keys|tree")
        return cls(
            parts.netloc, endpoint.netloc, endpoint.scheme == "https", region, listing == "tree"
        )
