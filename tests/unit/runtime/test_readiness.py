"""Stores are asked before a service calls itself ready, and leave no traces of it."""

from pathlib import Path
from typing import Any, cast

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from libs.contracts.faults import Code, WorldFault
from libs.runtime import storecalls
from libs.runtime.catalog.sql.upgrade import upgrade
from libs.runtime.probes import not_ready
from libs.runtime.readiness import questions
from libs.runtime.settings import Settings
from libs.runtime.storecalls import watched
from libs.runtime.stores import Stores


async def test_stores_of_one_machine_answer(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)  # type: ignore[call-arg]
    await upgrade(settings.resolved_catalog_url())
    stores = Stores(settings, index_writer=True)
    try:
        asked = questions(stores)
        assert set(asked) == {"catalog", "objects", "index", "graph"}
        assert await not_ready(asked) == {}
    finally:
        await stores.close()


class Away:
    async def ping(self) -> None:
        raise WorldFault(Code.STORE_AWAY, "the store does not answer")

    async def stat(self, _key: str) -> None:
        await self.ping()

    async def digest(self, _namespace: str, _revn: int) -> None:
        await self.ping()


class Gone:
    catalog = objects = index = graph = Away()


async def test_a_store_that_is_away_is_named() -> None:
    failed = await not_ready(questions(cast(Any, Gone())))
    assert failed == dict.fromkeys(
        ("catalog", "objects", "index", "graph"), "the store does not answer"
    )


async def test_asking_makes_no_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    class Here:
        async def stat(self, _key: str) -> None:
            return None

    exported = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exported))
    monkeypatch.setattr(storecalls, "tracer", lambda: provider.get_tracer("test"))

    class Seen:
        objects = watched(Here(), "objects")

    await questions(cast(Any, Seen()))["objects"]()
    assert exported.get_finished_spans() == ()
    await Seen.objects.stat("key")
    assert [span.name for span in exported.get_finished_spans()] == ["objects.stat"]
