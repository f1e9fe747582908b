"""A service is ready when its stores answer: the smallest question to each of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from opentelemetry import trace
from opentelemetry.trace import NonRecordingSpan, SpanContext, TraceFlags

from libs.runtime.probes import Check
from libs.runtime.stores import Stores

if TYPE_CHECKING:
    from libs.runtime.service import Service

NOBODY = "nobody"
_UNSEEN = NonRecordingSpan(SpanContext(1, 1, is_remote=False, trace_flags=TraceFlags(0)))
"""Not sampled, so that a question every few seconds makes no traces."""


def require(service: "Service", *stores: str) -> None:
    """Make these stores conditions of readiness: catalog, objects, index or graph."""
    known = questions(service.stores)
    for name in stores:
        service.on_ready(name, known[name])


def questions(stores: Stores) -> dict[str, Check]:
    """A check for each store, which raises while it does not answer. Stores are opened when
    they are first asked."""

    async def catalog() -> None:
        await stores.catalog.ping()

    async def objects() -> None:
        with _unseen():
            await stores.objects.stat(NOBODY)

    async def index() -> None:
        with _unseen():
            await stores.index.digest(NOBODY, 0)

    async def graph() -> None:
        with _unseen():
            await stores.graph.digest(NOBODY, 0)

    return {"catalog": catalog, "objects": objects, "index": index, "graph": graph}


@contextmanager
def _unseen() -> Iterator[None]:
    with trace.use_span(_UNSEEN):
        yield
