"""The catalog's database as one SQLite file."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event

from libs.runtime.catalog.sql.database import Database, translated

P = ParamSpec("P")
T = TypeVar("T")

BUSY_SECONDS = 5.0
READERS = 3

_PRAGMAS = (
    "synchronous=NORMAL",
    "foreign_keys=ON",
    "cache_size=-8000",
    "temp_store=MEMORY",
    "journal_size_limit=67108864",
)


def sqlite_path(url: str) -> Path | None:
    """The file of a `sqlite:<path>` URL; None for anything else."""
    scheme, _, rest = url.partition(":")
    path = rest.removeprefix("//")
    if scheme != "sqlite" or not path or path.startswith(":memory:"):
        return None
    return Path(path)


def sqlite_engine(
    path: Path, begin: str | None, connections: int = 1, busy_seconds: float = BUSY_SECONDS
) -> Engine:
    """An engine whose transactions start with the statement `begin`, and wait for a lock
    as long as `busy_seconds`; without `begin` each statement is one by itself."""
    engine = create_engine(
        URL.create("sqlite", database=str(path)),
        pool_size=connections,
        max_overflow=0,
        hide_parameters=True,
        connect_args={"isolation_level": None, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={busy_seconds * 1000:.0f}", *_PRAGMAS):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    if begin is not None:

        @event.listens_for(engine, "begin")
        def _begin(connection: Connection) -> None:
            connection.exec_driver_sql(begin)

    return engine


class SqliteDatabase(Database):
    """A write takes the write lock before its first read, so it is never run twice.

    Each thread keeps its connection, which takes a fifth off a short transaction; one in
    which something was raised is not kept. Rows are looked up in the caller's own thread: a
    reader of a write-ahead log waits for no writer, and to hand such a statement to another
    thread takes thrice the processor time of the statement.
    """

    def __init__(self, path: Path, busy_seconds: float = BUSY_SECONDS) -> None:
        super().__init__(
            sqlite_engine(path, "BEGIN IMMEDIATE", 1, busy_seconds),
            sqlite_engine(path, "BEGIN", READERS, busy_seconds),
            writers=1,
            readers=READERS,
            glancer=sqlite_engine(path, None, READERS + 1, busy_seconds),
        )
        self._kept: dict[tuple[Engine, int], Connection] = {}

    async def look_up(
        self, op: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The operation's result, without leaving this thread."""
        with translated(), self._connect(self._glancer) as connection, connection.begin():
            return op(connection, *args, **kwargs)

    @contextmanager
    def _connect(self, engine: Engine) -> Iterator[Connection]:
        mine = engine, threading.get_ident()
        connection = self._kept.pop(mine, None) or engine.connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        self._kept[mine] = connection

    def _let_go(self) -> None:
        while self._kept:
            self._kept.popitem()[1].close()
