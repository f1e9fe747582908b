"""What the OpenSearch writer asks of a cluster, over one that shows writes at a refresh only."""

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from libs.contracts.faults import WorldFault
from libs.runtime.index.opensearch_client import Address, address_of
from libs.runtime.index.opensearch_mappings import Identity, identity_of
from libs.runtime.index.opensearch_writer import OpenSearchWriter, Wanted
from tests.unit.index.test_opensearch import unpacked

ALIAS, NS = "docs-chunks", "acme"


class Cluster:
    """Documents by id. `stuck` ones are never shown."""

    def __init__(self) -> None:
        self.shown: dict[str, dict[str, Any]] = {}
        self.coming: dict[str, dict[str, Any] | None] = {}
        self.calls: Counter[str] = Counter()
        self.stuck: set[str] = set()
        self.refused: set[str] = set()
        self.refusal: dict[str, Any] = {"status": 400, "error": {"type": "mapper_parsing"}}
        self.indices = SimpleNamespace(refresh=self.refresh)

    async def bulk(self, *, body: bytes, routing: str, **_: Any) -> dict[str, Any]:
        self.calls["bulk"] += 1
        await asyncio.sleep(0)
        lines = iter(body.splitlines())
        items: list[dict[str, Any]] = []
        for line in lines:
            ((kind, head),) = orjson.loads(line).items()
            source = orjson.loads(next(lines)) if kind == "index" else None
            assert identity_of(head["_id"]).namespace == routing
            if head["_id"] in self.refused:
                items.append({kind: self.refusal})
                continue
            if head["_id"] not in self.stuck:
                self.coming[head["_id"]] = source
            items.append({kind: {"status": 200}})
        return {"errors": bool(self.refused), "items": items}

    async def refresh(self, **_: Any) -> None:
        self.calls["refresh"] += 1
        await asyncio.sleep(0)
        for document_id, source in self.coming.items():
            if source is None:
                self.shown.pop(document_id, None)
            else:
                self.shown[document_id] = source
        self.coming = {}

    async def search(self, *, body: dict[str, Any], routing: str, **_: Any) -> dict[str, Any]:
        self.calls["search"] += 1
        await asyncio.sleep(0)
        revns = unpacked(body["query"]["bool"]["filter"][1]["terms"]["revn"][0])
        found = [identity_of(one) for one in self.shown]
        here = sorted(
            (one.revn, one.order, str(one))
            for one in found
            if one.namespace == routing and one.revn in revns
        )
        hits = [{"_id": name, "fields": {"type": ["text"]}, "sort": []} for _, _, name in here]
        return {"hits": {"hits": hits}}


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def writer(cluster: Cluster) -> OpenSearchWriter:
    address: Address = address_of("opensearch://localhost/docs?tls=false")
    return OpenSearchWriter(cast(Any, cluster), address)


def ids(revn: int, *names: str, namespace: str = NS) -> list[str]:
    return [str(Identity(namespace, revn, order, name)) for order, name in enumerate(names)]


def wanted(revn: int, *names: str, namespace: str = NS, unseen: bool = True) -> Wanted:
    sources = {one: {"content": one} for one in ids(revn, *names, namespace=namespace)}
    return Wanted(namespace, revn, sources, unseen)


async def test_an_unseen_revision_takes_three_requests(
    cluster: Cluster, writer: OpenSearchWriter
) -> None:
    found = await writer.replace(ALIAS, wanted(1, "a", "b"))
    assert list(found) == ids(1, "a", "b")
    assert cluster.calls == {"bulk": 1, "refresh": 1, "search": 1}


async def test_revisions_that_wait_share_their_requests(
    cluster: Cluster, writer: OpenSearchWriter
) -> None:
    revisions = [wanted(revn, "a", f"own-{revn}") for revn in range(1, 10)]
    found = await asyncio.gather(*(writer.replace(ALIAS, one) for one in revisions))
    assert [list(one) for one in found] == [list(one.sources) for one in revisions]
    assert sorted(cluster.shown) == sorted(i for one in revisions for i in one.sources)
    assert max(cluster.calls.values()) <= 2


async def test_what_was_there_goes_in_the_same_refresh_where_it_may_be_seen(
    cluster: Cluster, writer: OpenSearchWriter
) -> None:
    await writer.replace(ALIAS, wanted(1, "a", "b", "c"))
    cluster.calls.clear()
    await writer.replace(ALIAS, wanted(1, "x", unseen=False))
    assert list(cluster.shown) == ids(1, "x")
    assert cluster.calls == {"search": 2, "bulk": 1, "refresh": 1}


async def test_what_a_killed_writer_left_goes_too(
    cluster: Cluster, writer: OpenSearchWriter
) -> None:
    cluster.coming = {one: {} for one in ids(1, "old", "older", "oldest")}
    await writer.replace(ALIAS, wanted(1, "a"))
    assert list(cluster.shown) == ids(1, "a")


async def test_namespaces_and_a_revision_that_comes_twice_are_kept_apart(
    cluster: Cluster, writer: OpenSearchWriter
) -> None:
    given = [
        wanted(1, "a"), wanted(1, "b", "c"), wanted(1, "d", namespace="other"),
        wanted(1, "b", "c"), wanted(2), wanted(2, "e", namespace="other"),
    ]  # fmt: skip
    found = await asyncio.gather(*(writer.replace(ALIAS, one) for one in given))
    assert [set(one) for one in found] == [set(one.sources) for one in given]
    left = [*ids(1, "b", "c"), *ids(1, "d", namespace="other"), *ids(2, "e", namespace="other")]
    assert sorted(cluster.shown) == sorted(left)


async def test_one_that_is_not_kept_or_refused_fails_alone(
    cluster: Cluster, writer: OpenSearchWriter
) -> None:
    cluster.stuck = set(ids(2, "a"))
    cluster.refused = set(ids(3, "a"))
    found = await asyncio.gather(
        *(writer.replace(ALIAS, wanted(revn, "a")) for revn in (1, 2, 3, 4)),
        return_exceptions=True,
    )
    assert [type(one) for one in found] == [dict, WorldFault, ValueError, dict]
    assert sorted(cluster.shown) == sorted([*ids(1, "a"), *ids(4, "a")])


@pytest.mark.parametrize("status", [403, 500, 503])
async def test_what_a_locked_or_broken_shard_does_not_take_is_tried_later(
    cluster: Cluster, writer: OpenSearchWriter, status: int
) -> None:
    cluster.refused = set(ids(1, "a"))
    cluster.refusal = {"status": status, "error": {"type": "cluster_block_exception"}}
    with pytest.raises(WorldFault, match="cluster_block_exception"):
        await writer.replace(ALIAS, wanted(1, "a"))
