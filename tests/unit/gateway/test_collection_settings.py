"""Settings of a collection, as the API stores them."""

from types import SimpleNamespace
from typing import Any, cast

from libs.contracts.entries import CollectionSettings
from libs.runtime.collections import load_settings
from services.gateway.http.collections import put_settings
from tests.support.fakes import Objects


async def test_searches_of_documents_follow_a_change_of_the_dense_share() -> None:
    objects, raised = Objects(), []

    async def raise_version(namespace: str, above: int) -> int:
        raised.append((namespace, (await load_settings(stored, "acme", "laws")).most_dense))
        return above + 1

    stored = cast(Any, objects)
    corpus = SimpleNamespace(raise_version=raise_version)
    stores = SimpleNamespace(objects=objects, catalog=SimpleNamespace(corpus=corpus))
    deps = cast(Any, SimpleNamespace(stores=stores))
    for most in (None, 0.25, 0.25, None):
        await put_settings("acme", "laws", CollectionSettings(most_dense=most), deps)
    assert raised == [("acme", 0.25), ("acme", None)], "once stored, and for a change alone"
