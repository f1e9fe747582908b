"""A span and a measurement around every call of a store."""

import functools
import inspect
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from opentelemetry.trace import Span, SpanKind, get_current_span, use_span

from libs.contracts.faults import Fault, WorldFault
from libs.runtime.telemetry import STORE_SECONDS, exemplar_of
from libs.runtime.tracing import record_error, tracer

S = TypeVar("S")

DATABASES = {
    "postgresql": "postgresql",
    "sqlite": "sqlite",
    "opensearch": "opensearch",
    "neo4j": "neo4j",
    "neo4j+s": "neo4j",
}
"""Names of databases, by the scheme of their URLs."""

UNWATCHED = frozenset({"close"})


def watched(store: S, system: str, url: str | None = None) -> S:
    """`store`, each call of which has a client span `<system>.<method>` and is measured.

    Of the `url` that it was opened by, spans tell the database and where it is.

    Streams are measured by the time that they keep their reader waiting, and contexts by that
    of entering them. Plain methods and `close` are left alone.
    """
    return cast(S, _Watched(store, system, {} if url is None else database_of(url)))


def database_of(url: str) -> dict[str, str | int]:
    """What OpenTelemetry's conventions for databases want to know of a store's URL."""
    place = urlsplit(url)
    system = DATABASES.get(place.scheme)
    if system is None:
        return {}
    where = {"server.address": place.hostname, "server.port": place.port}
    return {"db.system.name": system, **{key: value for key, value in where.items() if value}}


class _Watched:
    def __init__(self, inner: object, system: str, database: Mapping[str, str | int]) -> None:
        self._inner = inner
        self._system = system
        self._database = database

    def __getattr__(self, name: str) -> Any:
        member = getattr(self._inner, name)
        function = inspect.unwrap(member) if callable(member) else None
        if name not in UNWATCHED:
            if inspect.iscoroutinefunction(function):
                member = _watched_call(member, _Meter(self._system, name, self._database))
            elif inspect.isasyncgenfunction(member):
                member = _watched_stream(member, _Meter(self._system, name, self._database))
            elif inspect.isasyncgenfunction(function):
                member = _watched_context(member, _Meter(self._system, name, self._database))
        self.__dict__[name] = member
        return member


class _Meter:
    """Spans and seconds of one operation of one store."""

    def __init__(self, system: str, operation: str, database: Mapping[str, str | int]) -> None:
        self._name = f"{system}.{operation}"
        self._attributes = {
            "groundwire.store": system,
            "groundwire.operation": operation,
            **({"db.operation.name": operation} if database else {}),
            **database,
        }
        self._seconds = functools.cache(
            lambda outcome: STORE_SECONDS.labels(system, operation, outcome)
        )

    def call(self) -> "_Call":
        """One call that begins now. Within a trace that nobody records it has no span."""
        around = get_current_span()
        if around.get_span_context().is_valid and not around.is_recording():
            return _Call(None, self._seconds)
        span = tracer().start_span(self._name, kind=SpanKind.CLIENT, attributes=self._attributes)
        return _Call(span, self._seconds)


class _Call:
    """One call: `busy` around what the store does in it, `end` once."""

    def __init__(self, span: Span | None, seconds: Callable[[str], Any]) -> None:
        self._span = span
        self._seconds = seconds
        self._spent = 0.0
        self._outcome = "ok"

    @contextmanager
    def busy(self) -> Iterator[None]:
        """The store is at work, within the call's span; how it fails is how the call ends."""
        began = time.perf_counter()
        try:
            with _within(self._span):
                yield
        except StopAsyncIteration:
            raise
        except BaseException as error:
            self._outcome = outcome_of(error)
            if self._span is not None and self._outcome not in ("absent", "cancelled"):
                record_error(self._span, error)
            raise
        finally:
            self._spent += time.perf_counter() - began

    def end(self) -> None:
        """The call is over."""
        if self._span is not None:
            self._span.end()
        self._seconds(self._outcome).observe(self._spent, exemplar_of(self._span))


def _within(span: Span | None) -> AbstractContextManager[Any]:
    if span is None:
        return nullcontext()
    return use_span(span, record_exception=False, set_status_on_exception=False)


def outcome_of(error: BaseException) -> str:
    """How a failed call is counted: `absent`, `away`, `refused`, `cancelled` or `error`."""
    if isinstance(error, KeyError):
        return "absent"
    if isinstance(error, WorldFault):
        return "away"
    if isinstance(error, (Fault, ValueError)):
        return "refused"
    return "error" if isinstance(error, Exception) else "cancelled"


def _watched_call(method: Any, meter: _Meter) -> Any:
    @functools.wraps(method)
    async def call(*args: Any, **kwargs: Any) -> Any:
        one = meter.call()
        try:
            with one.busy():
                return await method(*args, **kwargs)
        finally:
            one.end()

    return call


def _watched_stream(method: Any, meter: _Meter) -> Any:
    @functools.wraps(method)
    async def stream(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        one = meter.call()
        pieces: AsyncIterator[Any] = method(*args, **kwargs)
        try:
            while True:
                try:
                    with one.busy():
                        piece = await anext(pieces)
                except StopAsyncIteration:
                    return
                yield piece
        finally:
            close = getattr(pieces, "aclose", None)
            if close is not None:
                await close()
            one.end()

    return stream


def _watched_context(method: Any, meter: _Meter) -> Any:
    @functools.wraps(method)
    @asynccontextmanager
    async def context(*args: Any, **kwargs: Any) -> AsyncIterator[Any]:
        one = meter.call()
        opened: AbstractAsyncContextManager[Any] = method(*args, **kwargs)
        try:
            with one.busy():
                value = await opened.__aenter__()
        finally:
            one.end()
        try:
            yield value
        except BaseException as error:
            if not await opened.__aexit__(type(error), error, error.__traceback__):
                raise
        else:
            await opened.__aexit__(None, None, None)

    return context
