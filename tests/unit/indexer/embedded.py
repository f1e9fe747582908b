"""A whole indexer over the embedded stores, and jobs of its catalog as a chunker leaves them."""

import contextlib
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from libs.contracts.events import DocumentChunked
from libs.runtime.artefacts import reference_to
from libs.runtime.catalog.jobs import Admission
from libs.runtime.catalog.sql import open_catalog, upgrade
from libs.runtime.graph.sql import CatalogGraph
from libs.runtime.index.factory import open_index
from libs.runtime.keys import attempt_key, source_key
from libs.runtime.objects.factory import open_objects
from services.indexer.deps import Deps
from services.indexer.handlers import on_chunked, on_published
from services.indexer.settings import Settings
from tests.support.fake_catalog import NOW
from tests.support.fakes import Bus, Embedder, World
from tests.unit.indexer.making import NS, chunked, published, work


@contextlib.asynccontextmanager
async def embedded(folder: Path, at: datetime = NOW) -> AsyncIterator[Deps]:
    """Stores below `folder`, opened; what an earlier one left there is found again."""
    url = f"sqlite:{folder / 'catalog.db'}"
    await upgrade(url)
    catalog = open_catalog(url)
    objects = open_objects(f"file:{folder / 'objects'}")
    index = open_index(f"file:{folder / 'index'}", writer=True)
    stores = SimpleNamespace(
        objects=objects, catalog=catalog, index=index, graph=CatalogGraph(catalog),
        embedder=Embedder(),
    )  # fmt: skip
    settings = Settings(_env_file=None)  # type: ignore[call-arg]
    try:
        yield Deps(cast(Any, Bus()), cast(Any, stores), str.split, settings, lambda: at)
    finally:
        await objects.close()
        await index.close()
        await catalog.close()


async def accepted(deps: Deps, document_id: str, **given: Any) -> DocumentChunked:
    """A job of the real catalog, with the artefacts that a chunker would have left."""
    world = World()
    made = await chunked(world, document_id, **given)
    stores = deps.stores
    admission = Admission(NS, "a.md", made.options, document_id=document_id)
    job = (await stores.catalog.jobs.admit(admission)).job
    event = made.model_copy(update={"job_id": job.job_id, "revision": job.revision})
    artefacts = {}
    for name, ref in made.artefacts.items():
        info = await stores.objects.put(attempt_key(event, name), world.objects.data[ref.key])
        artefacts[name] = ref.model_copy(update={"key": info.key})
    key = source_key(NS, document_id, job.revision, "a.md")
    source = reference_to(await stores.objects.put(key, b"source"))
    await stores.catalog.jobs.source_stored(job.job_id, source)
    return event.model_copy(update={"artefacts": artefacts})


async def ingested(deps: Deps, document_id: str, **given: Any) -> DocumentChunked:
    """A published and embedded revision."""
    event = await accepted(deps, document_id, **given)
    await on_chunked(deps, event, work(event))
    await on_published(deps, published(event), work(event))
    return event
