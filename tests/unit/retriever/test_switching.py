"""The embedder before answers until nothing needs it, then its successor does."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from services.retriever.app import build
from services.retriever.settings import Settings
from services.retriever.switching import Switching
from tests.unit.retriever.test_load import Stores, asks, retriever


class Two:
    """Namespaces of two documents each, by the models of their vectors."""

    def __init__(self, **models: list[str]) -> None:
        self.models = models
        self.raised: list[str] = []

    async def raise_version(self, namespace: str, above: int) -> int:
        self.raised.append(namespace)
        return above

    async def list_namespaces(self) -> list[str]:
        return list(self.models)

    async def active_set(self, namespace: str) -> Any:
        revisions = [SimpleNamespace(dense_model=model) for model in self.models[namespace]]
        return SimpleNamespace(revisions=revisions)


async def test_queries_change_over_once_no_namespace_needs_the_model_before() -> None:
    before, following = Stores(), Stores()
    following.model = "new"
    searching = retriever(before)
    catalog = Two(one=["new", "new"], two=["new", before.model])
    searching.catalog = cast(Any, SimpleNamespace(keys=catalog, documents=catalog, corpus=catalog))
    switching = Switching(searching, cast(Any, before), cast(Any, following))
    searching.use(cast(Any, before))
    await switching.look()
    assert (searching.embedder is before, catalog.raised) == (True, [])
    catalog.models["two"] = ["new", "new"]
    await switching.look()
    assert searching.embedder is following
    assert catalog.raised == ["one", "two"], "answers of the model before are kept no longer"
    catalog.models["two"] = [before.model]
    await switching.look()
    assert searching.embedder is following, "there is no way back"


async def test_what_is_known_of_a_corpus_is_of_one_model() -> None:
    stores = Stores()
    searching = retriever(stores)
    answer = await searching.retrieve(asks())
    assert "dense" in answer.chunks[0].channels
    other = Stores()
    other.model = "new"
    searching.use(cast(Any, other))
    answer = await searching.retrieve(asks())
    assert "dense" not in answer.chunks[0].channels, "there are no vectors of it"
    searching.use(cast(Any, stores))
    answer = await searching.retrieve(asks())
    assert "dense" in answer.chunks[0].channels


@pytest.mark.parametrize(("before", "watched"), [("", False), ("seeded", True)])
def test_the_service_watches_for_the_change_where_a_model_answered_before(
    before: str, watched: bool
) -> None:
    begun: list[str] = []
    periodic: list[str] = []
    service = SimpleNamespace(
        settings=Settings(embedder_before=before, _env_file=None),  # type: ignore[call-arg]
        stores=SimpleNamespace(catalog=None, index=None, embedder=None, graph=None, objects=None),
        answer=lambda subject, model, handler, **_: None,
        soon=lambda task, name: begun.append(task.__qualname__),
        every=lambda seconds, task, name: periodic.append(name),
        on_end=lambda hook: None,
        on_ready=lambda name, check: None,
    )
    build(cast(Any, service))
    assert begun == (["Switching.begin"] if watched else ["Retriever.warm_up"])
    assert ("change of the embedder" in periodic) is watched
    assert "calibration of collections" in periodic
