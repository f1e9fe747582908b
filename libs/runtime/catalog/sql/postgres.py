"""The catalog's database on Postgres."""

import random
import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from sqlalchemy import Connection, Engine, create_engine, exc, make_url

from libs.runtime.catalog.sql.database import Database

T = TypeVar("T")

WRITERS = 4
READERS = 4
CONNECT_SECONDS = 5
STATEMENT_SECONDS = 30.0
LOCK_SECONDS = 10.0
UNHEARD_SECONDS = 20.0
"""How long sent bytes may stay unacknowledged before a connection counts as lost."""

RERUNS = 30
LONGEST_PAUSE = 0.25
RERUNS_OF_LOST = 2
RERUNS_OF_CONFLICTS = 12

RECONNECT_PAUSES = (0.1, 0.4)
"""Seconds between tries to connect: a server that is restarted costs no call."""

_RERUN = {"40001", "40P01"}  # serialization failure, deadlock
_STARTS_OR_STOPS = {"57P01", "57P02", "57P03"}
_UNIQUE = "23505"


def postgres_engine(
    url: str,
    password: str | None,
    connections: int,
    *,
    lock_seconds: float = LOCK_SECONDS,
    statement_seconds: float = STATEMENT_SECONDS,
) -> Engine:
    """An engine for `postgresql://<user>@<host>/<database>`.

    A connection is used untried: who finds it lost runs again. `ValueError` for a URL that
    names no host and database.
    """
    parts = urlsplit(url)
    if parts.scheme != "postgresql" or not parts.hostname or not parts.path.strip("/"):
        raise ValueError("a Postgres URL is postgresql://<user>@<host>[:<port>]/<database>")
    address = make_url(url).set(drivername="postgresql+psycopg")
    if password is not None:
        address = address.set(password=password)
    settings = {
        "statement_timeout": statement_seconds,
        "lock_timeout": lock_seconds,
        "idle_in_transaction_session_timeout": statement_seconds,
    }
    return create_engine(
        address,
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,
        connect_args={
            "connect_timeout": CONNECT_SECONDS,
            "tcp_user_timeout": int(UNHEARD_SECONDS * 1000),
            "keepalives_idle": int(UNHEARD_SECONDS / 2),
            "keepalives_interval": int(UNHEARD_SECONDS / 4),
            "application_name": "groundwire",
            "options": " ".join(f"-c {name}={int(s * 1000)}" for name, s in settings.items()),
        },
    )


class PostgresDatabase(Database):
    """Writes are SERIALIZABLE and run again when Postgres finds that they collided.

    A unique key that two transactions insert at once is such a collision, too, though
    Postgres does not always call it one: the second run finds the row. Reads are of one
    snapshot and never collide. A connection that is lost in a commit is a fault, since that
    may have come through; what was lost before is run again, so that a server that was
    restarted costs no call.
    """

    def __init__(self, url: str, password: str | None = None) -> None:
        engine = postgres_engine(url, password, WRITERS + READERS)
        super().__init__(
            engine.execution_options(isolation_level="SERIALIZABLE", preserve_rowcount=True),
            engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True),
            WRITERS,
            READERS,
            engine.execution_options(isolation_level="AUTOCOMMIT"),
        )

    def _connect(self, engine: Engine) -> Connection:
        for pause in RECONNECT_PAUSES:
            try:
                return engine.connect()
            except exc.OperationalError as error:
                state = getattr(error.orig, "sqlstate", None)
                if state is not None and state not in _STARTS_OR_STOPS:
                    raise
            time.sleep(pause)
        return engine.connect()

    def _look(self, transact: Callable[[], T]) -> T:
        try:
            return transact()
        except exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise
        return transact()

    def _settle(self, transact: Callable[[], T]) -> T:
        conflicts = lost = 0
        for run in range(RERUNS):
            try:
                return transact()
            except exc.DBAPIError as error:
                state = getattr(error.orig, "sqlstate", None)
                conflicts += state == _UNIQUE
                # a commit is no statement of ours
                early = error.connection_invalidated and error.statement is not None
                lost += early
                if not (
                    state in _RERUN
                    or (state == _UNIQUE and conflicts <= RERUNS_OF_CONFLICTS)
                    or (early and lost <= RERUNS_OF_LOST)
                ):
                    raise
            pause = min(LONGEST_PAUSE, 0.002 * 2**run)
            time.sleep(random.uniform(0, pause))  # noqa: S311
        return transact()
