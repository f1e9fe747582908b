"""One database, reached by transactions that are plain functions.

An operation is a function of a SQLAlchemy connection. `Database` runs it whole, in a thread
of its own: a transaction costs one hop instead of one a statement (against the asyncio
drivers 3.4 times less CPU on SQLite and half of it on Postgres, measured), nothing else can
be awaited while it holds a lock, and a cancelled caller never leaves it half done.
Operations speak no dialect and may run twice.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Concatenate, ParamSpec, TypeVar

from sqlalchemy import Connection, Engine, Table, exc
from sqlalchemy.dialects.postgresql import Insert

from libs.contracts.faults import Code, WorldFault

P = ParamSpec("P")
T = TypeVar("T")

CALL_SECONDS = 60.0

_BUGS = (exc.IntegrityError, exc.ProgrammingError, exc.DataError, exc.NotSupportedError)
_NO_TABLES = ("no such table", "UndefinedTable")
_NOT_LET_IN = "it does not let us in: check GROUNDWIRE_CATALOG_URL and GROUNDWIRE_CATALOG_PASSWORD"
_NO_CONNECTION = {
    "authentication failed": _NOT_LET_IN,
    "no password supplied": _NOT_LET_IN,
    "pg_hba.conf": _NOT_LET_IN,
    "does not exist": _NOT_LET_IN,
    "certificate": "its certificate is not trusted",
    "SSL": "it does not speak TLS as it should",
    "refused": "the connection was refused",
    "timeout": "no connection came about in time",
    "resolve": "its host is not known",
}
"""What a sign in the words of Postgres' client means; the words themselves name host and user."""


def upsert(table: Table) -> Insert:
    """An insert that can say `on_conflict_do_…`: Postgres' own, which SQLite reads as well."""
    return Insert(table)


class Database:
    """Runs operations, each in one transaction of its own.

    A write is serialisable; a read sees one consistent view. A call that takes longer than
    `CALL_SECONDS` is given up with `WorldFault(STORE_AWAY)`, whatever becomes of it.
    """

    def __init__(
        self,
        writer: Engine,
        reader: Engine,
        writers: int,
        readers: int,
        glancer: Engine | None = None,
    ) -> None:
        """`glancer` is a reader without transactions, where a database has a use for one."""
        self._writer = writer
        self._reader = reader
        self._glancer = glancer or reader
        self._write_threads = ThreadPoolExecutor(writers, "catalog-write")
        self._read_threads = ThreadPoolExecutor(readers, "catalog-read")

    async def read(
        self, op: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The operation's result, from one consistent view."""
        return await self._look_with(self._reader, op, *args, **kwargs)

    async def read_once(
        self, op: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `read`, for an operation of one statement: it is one view by itself, so a server
        need not be told where it begins and ends."""
        return await self._look_with(self._glancer, op, *args, **kwargs)

    async def look_up(
        self, op: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """As `read_once`, for one that finds a row or two by their keys; a database in a file
        is asked where the caller is."""
        return await self.read_once(op, *args, **kwargs)

    async def _look_with(
        self,
        engine: Engine,
        op: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        def transact() -> T:
            with self._connect(engine) as connection, connection.begin():
                return op(connection, *args, **kwargs)

        def settle() -> T:
            with translated():
                return self._look(transact)

        return await self._run(self._read_threads, settle)

    async def write(
        self, op: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The operation's result once it is committed; nothing is when it raises."""

        def transact() -> T:
            with self._connect(self._writer) as connection, connection.begin():
                return op(connection, *args, **kwargs)

        def settle() -> T:
            with translated():
                return self._settle(transact)

        return await self._run(self._write_threads, settle)

    def _connect(self, engine: Engine) -> AbstractContextManager[Connection]:
        """A connection for one transaction; where the database may come back, after some tries."""
        return engine.connect()

    def _let_go(self) -> None:
        """Release what is kept beside the engines' pools; no thread works any more."""

    def _look(self, transact: Callable[[], T]) -> T:
        """Run a reading transaction, again where its connection was lost."""
        return transact()

    def _settle(self, transact: Callable[[], T]) -> T:
        """Run a writing transaction, again where the database asks for that."""
        return transact()

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        try:
            async with asyncio.timeout(CALL_SECONDS):
                return await asyncio.get_running_loop().run_in_executor(threads, work)
        except TimeoutError:
            detail = f"the catalog database did not answer within {CALL_SECONDS:g} s"
            raise WorldFault(Code.STORE_AWAY, detail) from None

    async def close(self) -> None:
        """Finish what runs, then release threads and connections."""

        def shut() -> None:
            self._write_threads.shutdown()
            self._read_threads.shutdown()
            self._let_go()
            for engine in (self._writer, self._reader, self._glancer):
                engine.dispose()

        await asyncio.to_thread(shut)


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turns errors of a database that is away or busy into `WorldFault(STORE_AWAY)`.

    Other errors stay what they are, without the values that a driver's text may show.
    """
    try:
        yield
    except exc.TimeoutError:
        detail = "the catalog database is busy: no connection came free"
        raise WorldFault(Code.STORE_AWAY, detail) from None
    except exc.DBAPIError as error:
        told = _told(error.orig)
        if any(sign in told for sign in _NO_TABLES):
            detail = "the catalog has no tables yet: run `groundwire bootstrap`"
        elif isinstance(error, _BUGS):
            raise type(error)(
                error.statement, None, Exception(told), hide_parameters=True
            ) from None
        else:
            detail = f"the catalog database did not answer: {told}"
        raise WorldFault(Code.STORE_AWAY, detail) from None


def _told(error: BaseException | None) -> str:
    """What a driver says, without values, hosts and users: of a server's answer, its kind and
    the constraint."""
    answer = getattr(error, "diag", None)
    if answer is None:
        return str(error)
    if answer.sqlstate is None:
        words = str(error)
        said = (meaning for sign, meaning in _NO_CONNECTION.items() if sign in words)
        return next(said, "the connection was lost")
    return " ".join(filter(None, (type(error).__name__, answer.sqlstate, answer.constraint_name)))
