"""The connection to OpenSearch: how it is addressed, and its errors as faults of ours."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from libs.contracts.faults import Code, WorldFault

if TYPE_CHECKING:
    from opensearchpy import AsyncOpenSearch

FORM = "opensearch://[<user>@]<host>:<port>/<prefix>[?tls=false&shards=1&replicas=0]"
SEARCH_SECONDS = 10.0
WRITE_SECONDS = 60.0
RETRIES = 2
CONNECTIONS = 32
_PREFIX_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
_AWAY_STATUS = frozenset({401, 403, 408, 429})
_SERVER_ERROR = 500


@dataclass(frozen=True)
class Address:
    """Where the cluster is and how our indices are made there.

    Index names begin with `prefix`. `shards` and `replicas` count when an index is made;
    more shards are for more namespaces, since each lies in one shard whole.
    """

    host: str
    port: int
    prefix: str
    tls: bool = True
    shards: int = 1
    replicas: int = 0
    user: str | None = None

    def __str__(self) -> str:
        """For people, callers among them, who need not know where it is."""
        return "OpenSearch"


def address_of(url: str) -> Address:
    """What a URL of the form `FORM` says; `ValueError` for another one, which keeps secrets out
    of its text."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    prefix = parts.path.strip("/")
    try:
        address = Address(
            host=parts.hostname or "",
            port=parts.port or 9200,
            prefix=prefix,
            tls={"true": True, "false": False}[options.pop("tls", "true")],
            shards=int(options.pop("shards", "1")),
            replicas=int(options.pop("replicas", "0")),
            user=parts.username,
        )
    except (KeyError, ValueError):
        address = None
    if (
        address is None
        or options
        or parts.scheme != "opensearch"
        or parts.password is not None
        or not address.host
        or not prefix
        or not set(prefix) <= _PREFIX_CHARACTERS
        or prefix.startswith("-")
        or not 1 <= address.shards <= 1024
        or not 0 <= address.replicas <= 16
    ):
        raise ValueError(f"GROUNDWIRE_INDEX_URL is not of the form {FORM}")
    return address


def connect(address: Address, password: str | None) -> "AsyncOpenSearch":
    """A client; nothing is sent before its first call.

    Its logger is silenced: what it logs may quote documents, and faults and spans tell the same.
    """
    from opensearchpy import AsyncOpenSearch

    logging.getLogger("opensearch").setLevel(logging.CRITICAL)
    return AsyncOpenSearch(
        hosts=[{"host": address.host, "port": address.port}],
        use_ssl=address.tls,
        verify_certs=address.tls,
        http_auth=(address.user, password or "") if address.user else None,
        http_compress=False,
        timeout=SEARCH_SECONDS,
        max_retries=RETRIES,
        retry_on_timeout=False,
        pool_maxsize=CONNECTIONS,
        maxsize=CONNECTIONS,
    )


@contextmanager
def faults(address: Address) -> Iterator[None]:
    """Errors of the client as faults; none of their texts is kept, they may quote documents."""
    from opensearchpy import exceptions

    try:
        yield
    except exceptions.TransportError as error:
        status = error.status_code
        if isinstance(error, exceptions.ConnectionError) or away(status):
            raise WorldFault(Code.STORE_AWAY, f"{address} {_why(error, status)}") from None
        raise RuntimeError(f"{address} refused a call: {status} {error_type(error)}") from None


def away(status: Any) -> bool:
    """Whether an answer with this status, of a request or of an item of a bulk, is no fault of
    the request: the cluster is busy, full, locked, about to end, or lets nobody in."""
    return status in _AWAY_STATUS or (isinstance(status, int) and status >= _SERVER_ERROR)


async def search(
    client: "AsyncOpenSearch", address: Address, alias: str, namespace: str, body: dict[str, Any]
) -> list[dict[str, Any]]:
    """The hits of a search, all of them or a fault; none when the index is not there."""
    hits: list[dict[str, Any]] = (await ask(client, address, alias, namespace, body))["hits"][
        "hits"
    ]
    return hits


async def ask(
    client: "AsyncOpenSearch", address: Address, alias: str, namespace: str, body: dict[str, Any]
) -> dict[str, Any]:
    """The whole answer of a search."""
    with faults(address):
        answer: dict[str, Any] = await client.search(
            index=alias,
            body=body,
            routing=namespace,
            ignore_unavailable=True,
            allow_partial_search_results=False,
        )
    return answer


def _why(error: Exception, status: Any) -> str:
    kind = error_type(error)
    if kind == "cluster_block_exception":
        return "takes no writes now: its indices are locked, by their owner or for want of room"
    if status == 429:
        return "is busy"
    if status in {401, 403}:
        return f"does not let us in (status {status}): check GROUNDWIRE_INDEX_PASSWORD"
    if isinstance(status, int):
        return f"cannot answer: {status} {kind}"
    return f"cannot be reached: {type(error).__name__}"


def error_type(error: Any) -> str:
    """The machine-readable kind of an error: of an exception, or of an item of a bulk."""
    info = error if isinstance(error, dict) else getattr(error, "info", None)
    if isinstance(info, dict):
        found = info.get("error", info)
        if isinstance(found, dict):
            return str(found.get("type", "unknown"))
    return "unknown"
