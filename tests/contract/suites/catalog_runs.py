"""What every run store must do. Give the fixture `catalog`."""

from datetime import UTC, datetime, timedelta
from typing import Any

from libs.contracts.events.planner import RunStep, SearchHit, SearchRan
from libs.runtime.catalog.port import Catalog
from tests.support.catalogs import NS, OTHER

MOMENT = datetime(2026, 5, 1, tzinfo=UTC)


def ran(run_id: str = "run-1", **changes: Any) -> SearchRan:
    fields: dict[str, Any] = {
        "namespace": NS,
        "key_id": "key-1",
        "mode": "classic",
        "status": "ok",
        "cached": False,
        "corpus_version": 7,
        "latency_ms": 12.5,
        "trace_id": "0af7",
        "steps": [RunStep(kind="retrieve", inputs={"k": 10}, outputs={"ids": ["doc-1"]})],
        "hits": [hit("doc-1", "t1"), hit("doc-1", "t2"), hit("doc-2", "t1")],
        "trace": {"run_id": run_id, "planner": {"metadata_selected_doc_ids": ["doc-1", "doc-10"]}},
        "occurred_at": MOMENT,
        **changes,
    }
    return SearchRan(run_id=run_id, **fields)


def hit(document_id: str, chunk_id: str) -> SearchHit:
    return SearchHit(document_id=document_id, chunk_id=chunk_id)


class RunStoreSuite:
    """The MUSTs of `libs/runtime/catalog/runs.py`."""

    async def test_a_run_is_read_back_within_its_namespace(self, catalog: Catalog) -> None:
        assert await catalog.runs.append([ran()]) == 1
        run = await catalog.runs.get(NS, "run-1")
        assert run is not None
        assert (run.run_id, run.namespace, run.key_id) == ("run-1", NS, "key-1")
        assert (run.mode, run.status, run.cached) == ("classic", "ok", False)
        assert (run.corpus_version, run.latency_ms, run.trace_id) == (7, 12.5, "0af7")
        assert run.created_at == MOMENT
        assert run.trace == ran().trace
        assert run.steps[0]["kind"] == "retrieve"
        assert run.steps[0]["outputs"] == {"ids": ["doc-1"]}
        assert await catalog.runs.get(OTHER, "run-1") is None
        assert await catalog.runs.get(NS, "run-2") is None

    async def test_hits_are_counted_once_a_run(self, catalog: Catalog) -> None:
        assert await catalog.runs.append([]) == 0
        assert await catalog.runs.append([ran("run-1"), ran("run-2"), ran("run-1")]) == 2
        assert (
            await catalog.runs.append([ran("run-2"), ran("run-3", hits=[hit("doc-1", "t9")])]) == 1
        )
        assert await catalog.runs.hits(NS, "doc-1") == {"t1": 2, "t2": 2, "t9": 1}
        assert await catalog.runs.hits(NS, "doc-2") == {"t1": 2}
        assert await catalog.runs.hits(OTHER, "doc-1") == {}

    async def test_a_large_batch_is_stored_whole(self, catalog: Catalog) -> None:
        assert await catalog.runs.append([ran(f"run-{n}") for n in range(450)]) == 450
        assert await catalog.runs.hits(NS, "doc-1") == {"t1": 450, "t2": 450}

    async def test_a_document_is_forgotten_everywhere(self, catalog: Catalog) -> None:
        foreign = ran("run-3", namespace=OTHER)
        keyed = ran(
            "run-2", trace={"comparison": {"doc-1": True}, "text": "as doc-1 says", "n": [1]}
        )
        await catalog.runs.append([ran("run-1"), keyed, foreign])
        assert await catalog.runs.remove_document(NS, "doc-1") > 0
        assert await catalog.runs.hits(NS, "doc-1") == {}
        assert await catalog.runs.hits(NS, "doc-2") == {"t1": 2}
        first = await catalog.runs.get(NS, "run-1")
        second = await catalog.runs.get(NS, "run-2")
        assert first is not None
        assert second is not None
        ids = first.trace["planner"]["metadata_selected_doc_ids"]
        assert len(ids) == 2
        assert ids[1] == "doc-10", "an id that only begins alike is another document's"
        assert ids[0] != "doc-1"
        assert len(first.steps[0]["outputs"]["ids"]) == 1
        assert "doc-1'" not in repr(first)
        assert "doc-1" not in repr(second)
        assert second.trace["n"] == [1]
        kept = await catalog.runs.get(OTHER, "run-3")
        assert kept is not None
        assert kept.trace == foreign.trace
        assert await catalog.runs.hits(OTHER, "doc-1") == {"t1": 1, "t2": 1}
        assert await catalog.runs.remove_document(NS, "doc-1") == 0

    async def test_old_runs_expire(self, catalog: Catalog) -> None:
        old = [ran(f"old-{n}", occurred_at=MOMENT - timedelta(days=n)) for n in range(1, 250)]
        await catalog.runs.append([*old, ran("new")])
        assert await catalog.runs.expire(MOMENT) == 249
        assert await catalog.runs.expire(MOMENT) == 0
        assert await catalog.runs.get(NS, "new") is not None
        assert await catalog.runs.get(NS, "old-1") is None
