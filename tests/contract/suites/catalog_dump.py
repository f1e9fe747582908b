"""What a dump of a catalog must hold, over any SQL database. Give `url`, `empty_url`, `catalog`,
`empty`."""

from pathlib import Path

import pytest

from libs.contracts.events.planner import SearchHit, SearchRan
from libs.runtime.catalog.port import Catalog
from libs.runtime.catalog.sql.dumping import CatalogNotEmpty, dump_catalog, load_catalog
from tests.contract.suites.catalog_audit import entry
from tests.contract.suites.catalog_keys import key
from tests.support.catalogs import NS, OTHER, chunks, published, ready, running, tree


def quiet(step: str, done: int, total: int) -> None:
    """Nobody watches."""


class CatalogDumpSuite:
    """`libs/runtime/catalog/sql/dumping.py`, from one database into another."""

    async def test_everything_but_content_comes_through(
        self, catalog: Catalog, empty: Catalog, url: str, empty_url: str, tmp_path: Path
    ) -> None:
        done, waiting = await published(catalog, "a"), await ready(catalog, namespace=OTHER)
        await catalog.keys.add(key())
        await catalog.keys.pause(OTHER, paused=True)
        await catalog.audit.add(entry(1, detail={"revision": 2}, reason="두 번"))
        await catalog.chunks.cache_vectors(NS, "m", {"h" * 64: b"\x00\x01\xff\x80"})
        hits = [SearchHit(document_id="a", revision=1, chunk_id="t1")]
        run = SearchRan(
            run_id="run-1", namespace=NS, key_id="k", mode="classic", status="ok", cached=False,
            corpus_version=1, latency_ms=1.5, trace_id=None, steps=[], trace={"말": [1]}, hits=hits,
        )  # fmt: skip
        await catalog.runs.append([run])
        await catalog.documents.hide(NS, "a", "era-1")
        counts = await dump_catalog(url, None, tmp_path, quiet)
        assert (counts["job"], counts["document"], counts["vector"]) == (2, 2, 1)
        assert await load_catalog(empty_url, None, tmp_path, quiet) == counts
        for job in (done, waiting):
            assert await empty.jobs.get(None, job.job_id) == await catalog.jobs.get(
                None, job.job_id
            )
            history = await catalog.jobs.history(job.job_id)
            assert await empty.jobs.history(job.job_id) == history
        assert await empty.keys.select(None) == await catalog.keys.select(None)
        assert await empty.audit.select(None) == await catalog.audit.select(None)
        assert await empty.keys.paused() == await catalog.keys.paused()
        assert await empty.runs.get(NS, "run-1") == await catalog.runs.get(NS, "run-1")
        assert await empty.runs.hits(NS, "a") == {"t1": 1}
        assert await empty.documents.get(NS, "a") == await catalog.documents.get(NS, "a")
        assert await empty.documents.erasure(NS, "era-1") is not None
        cached = await empty.chunks.cached_vectors(NS, "m", ["h" * 64])
        assert cached == {"h" * 64: b"\x00\x01\xff\x80"}
        assert await empty.corpus.versions() == await catalog.corpus.versions()
        assert (await ready(empty, "new")).revn > max(done.revn, waiting.revn)

    async def test_a_dump_from_before_a_table_was_made_is_loaded(
        self, catalog: Catalog, empty: Catalog, url: str, empty_url: str, tmp_path: Path
    ) -> None:
        await catalog.keys.add(key())
        await catalog.audit.add(entry(1))
        await dump_catalog(url, None, tmp_path, quiet)
        (tmp_path / "audit.jsonl.zst").unlink()
        counts = await load_catalog(empty_url, None, tmp_path, quiet)
        assert (counts["api_key"], counts["audit"]) == (1, 0)
        assert await empty.audit.select(None) == []

    async def test_no_chunk_is_in_it_and_what_was_staged_is_staged_again(
        self, catalog: Catalog, empty: Catalog, url: str, empty_url: str, tmp_path: Path
    ) -> None:
        job = await running(catalog, "a")
        given = chunks("xyzzyplugh", "two")
        await catalog.chunks.stage(job.revn, given, tree("T"))
        await dump_catalog(url, None, tmp_path, quiet)
        await load_catalog(empty_url, None, tmp_path, quiet)
        assert (await empty.chunks.digest(job.revn)).count == 0
        await empty.chunks.stage(job.revn, given, tree("T"))
        assert await empty.chunks.digest(job.revn) == await catalog.chunks.digest(job.revn)

    async def test_a_catalog_with_documents_is_left_alone(
        self, catalog: Catalog, empty: Catalog, url: str, empty_url: str, tmp_path: Path
    ) -> None:
        await published(catalog, "a")
        await published(empty, "b")
        await dump_catalog(url, None, tmp_path, quiet)
        with pytest.raises(CatalogNotEmpty):
            await load_catalog(empty_url, None, tmp_path, quiet)
        assert await empty.documents.get(NS, "a") is None
