"""The connection to Neo4j: how it is addressed, and its errors as faults of ours."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from libs.contracts.faults import Code, WorldFault

if TYPE_CHECKING:
    from neo4j import AsyncDriver

FORM = "neo4j://<user>@<host>:<port>/<database>[?tls=false]"
CONNECT_SECONDS = 5.0
CALL_SECONDS = 30.0
GIVE_UP_SECONDS = 45.0
"""The driver itself waits for ever for a server that holds its connections open."""

RETRY_SECONDS = 10.0
FIRST_PAUSE_SECONDS = 0.2
CONNECTIONS = 32
_NO_DATABASE = "Neo.ClientError.Database.DatabaseNotFound"


@dataclass(frozen=True)
class Address:
    """Where the server is, and which of its databases is ours."""

    host: str
    port: int
    database: str
    user: str
    tls: bool = True

    def __str__(self) -> str:
        """For people, callers among them, who need not know where it is."""
        return "Neo4j"


def address_of(url: str) -> Address:
    """What a URL of the form `FORM` says; `ValueError` for another one, which keeps secrets out
    of its text."""
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query))
    try:
        address = Address(
            host=parts.hostname or "",
            port=parts.port or 7687,
            database=parts.path.strip("/"),
            user=parts.username or "neo4j",
            tls={"true": True, "false": False}[options.pop("tls", "true")],
        )
    except (KeyError, ValueError):
        address = None
    if (
        address is None
        or options
        or parts.scheme != "neo4j"
        or parts.password is not None
        or not address.host
        or not address.database
    ):
        raise ValueError(f"GROUNDWIRE_GRAPH_URL is not of the form {FORM}")
    return address


def connect(address: Address, password: str | None) -> "AsyncDriver":
    """A driver; nothing is sent before its first call.

    Its logger is silenced: what it logs may quote keywords, and faults and spans tell the same.
    """
    from neo4j import AsyncGraphDatabase

    logging.getLogger("neo4j").setLevel(logging.CRITICAL)
    scheme = "neo4j+s" if address.tls else "neo4j"
    host = f"[{address.host}]" if ":" in address.host else address.host
    return AsyncGraphDatabase.driver(
        f"{scheme}://{host}:{address.port}",
        auth=(address.user, password or ""),
        connection_timeout=CONNECT_SECONDS,
        connection_acquisition_timeout=RETRY_SECONDS,
        max_transaction_retry_time=RETRY_SECONDS,
        initial_retry_delay=FIRST_PAUSE_SECONDS,
        max_connection_pool_size=CONNECTIONS,
        notifications_min_severity="OFF",
    )


@asynccontextmanager
async def faults(address: Address) -> AsyncIterator[None]:
    """Errors of the driver as faults; none of their texts is kept, they may quote keywords.

    Also what takes longer than `GIVE_UP_SECONDS` is one.
    """
    from neo4j import exceptions

    try:
        async with asyncio.timeout(GIVE_UP_SECONDS):
            yield
    except TimeoutError:
        detail = f"{address} did not answer within {GIVE_UP_SECONDS:g} s"
        raise WorldFault(Code.STORE_AWAY, detail) from None
    except exceptions.AuthError:
        raise WorldFault(
            Code.STORE_AWAY, f"{address} does not let us in: check GROUNDWIRE_GRAPH_PASSWORD"
        ) from None
    except exceptions.DriverError as error:
        kind = type(error).__name__
        raise WorldFault(Code.STORE_AWAY, f"{address} cannot be reached: {kind}") from None
    except exceptions.Neo4jError as error:
        code = error.code or ""
        # a database error is what the server says of its own trouble: a full disk
        if (
            error.is_retryable()
            or isinstance(error, exceptions.DatabaseError)
            or "TimedOut" in code
            or code == _NO_DATABASE
        ):
            raise WorldFault(Code.STORE_AWAY, f"{address} cannot do it now: {code}") from None
        raise RuntimeError(f"{address} refused a call: {error.code}") from None
