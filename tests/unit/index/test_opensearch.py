"""What the OpenSearch adapter makes before anything is sent."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opensearchpy import TransportError

from deploy.local.ports import free_port
from libs.contracts.faults import Code, WorldFault
from libs.runtime.index import opensearch_queries as queries
from libs.runtime.index.factory import open_index
from libs.runtime.index.opensearch_client import address_of, faults
from libs.runtime.index.opensearch_mappings import Identity, identity_of
from libs.runtime.index.port import MAX_QUERY_TERMS, IndexDocument, LexicalQuery, Scope

URL = "opensearch://localhost/docs?tls=false"


def unpacked(text: str) -> list[int]:
    """The numbers of a Roaring bitmap, read as its format is described."""
    data = base64.b64decode(text)
    cookie, count = struct.unpack_from("<II", data)
    assert cookie == 12346
    heads = [struct.unpack_from("<HH", data, 8 + 4 * i) for i in range(count)]
    offsets = [struct.unpack_from("<I", data, 8 + 4 * count + 4 * i)[0] for i in range(count)]
    numbers = []
    end = 8 + 8 * count
    for (key, less), offset in zip(heads, offsets, strict=True):
        assert offset == end
        size = less + 1
        if size <= 4096:
            lower = list(struct.unpack_from(f"<{size}H", data, offset))
            end += 2 * size
        else:
            bits = data[offset : offset + 8192]
            lower = [n for n in range(1 << 16) if bits[n // 8] >> n % 8 & 1]
            assert len(lower) == size
            end += 8192
        numbers += [key << 16 | low for low in lower]
    assert end == len(data)
    return numbers


@given(st.sets(st.integers(0, (1 << 31) - 1), max_size=200))
def test_a_bitmap_holds_its_numbers(numbers: set[int]) -> None:
    assert unpacked(queries.bitmap(numbers)) == sorted(numbers)


@pytest.mark.parametrize(
    "numbers", [range(4096), range(4097), range(100_000), range(65_000, 70_000)]
)
def test_a_dense_bitmap_holds_its_numbers(numbers: range) -> None:
    assert unpacked(queries.bitmap(numbers)) == list(numbers)


def test_a_large_scope_is_small_in_a_query() -> None:
    clause = queries.filters(Scope("ns", frozenset(range(100_000))))[1]
    assert len(clause["terms"]["revn"][0]) < 30_000


def test_revisions_that_no_index_can_hold_are_in_no_query() -> None:
    clause = queries.filters(Scope("ns", frozenset({7, 1 << 31, 1 << 40})))[1]
    assert unpacked(clause["terms"]["revn"][0]) == [7]


def test_long_terms_are_looked_for_by_bounded_pieces() -> None:
    text = "".join(chr(ord("a") + i % 23) for i in range(100_000))
    phrases = queries.substrings([text])["bool"]["should"][0]["bool"]["must"]
    pieces = [phrase["match_phrase"]["term"]["query"] for phrase in phrases]
    assert 1 <= len(pieces) <= queries.MAX_WINDOWS
    assert all(len(piece) == queries.WINDOW and piece in text for piece in pieces)


def test_terms_are_few_folded_and_of_two_characters_or_more() -> None:
    assert queries.terms_of(LexicalQuery([], ["x", ""])) == []
    terms = queries.terms_of(LexicalQuery([], ["ＡＢ", "ab", *(f"t{i}" for i in range(99))]))
    assert terms[0] == "ab"
    assert len(terms) == len(set(terms)) == queries.MAX_TERMS
    should = queries.substrings(terms)["bool"]["should"]
    assert should[0] == {"term": {"term.pairs": {"value": "ab"}}}


def test_of_many_terms_the_rarest_that_may_be_there_are_kept() -> None:
    terms = [f"q{i:02d}" for i in range(20)]
    counts = {f"q{i:02d}": {"doc_freq": 100 - i} for i in range(20)}
    del counts["q19"]
    pairs = {"zz": {"doc_freq": 1}}
    answer = {"term_vectors": {"term": {"terms": counts}, "term.pairs": {"terms": pairs}}}
    kept = queries.rarest_terms([*terms, "zz"], answer)
    assert kept == ["zz", *(f"q{i:02d}" for i in range(18, 3, -1))]
    assert len(kept) == MAX_QUERY_TERMS
    assert queries.rarest_terms(terms, {}) == []


def test_an_id_says_what_it_was_made_of() -> None:
    made = Identity("acme", 7, 12, "t/0-1")
    assert identity_of(str(made)) == made


def test_a_url_says_where_the_cluster_is() -> None:
    address = address_of("opensearch://reader@search.example:9201/docs?shards=3&replicas=1")
    assert (address.host, address.port, address.prefix) == ("search.example", 9201, "docs")
    assert (address.user, address.shards, address.replicas) == ("reader", 3, 1)
    assert address.tls
    assert not address_of("opensearch://localhost/docs?tls=false").tls


@pytest.mark.parametrize(
    "url",
    [
        "opensearch:", "opensearch://", "opensearch://host", "opensearch://host/", "file:x",
        "opensearch://host/Upper", "opensearch://host/a*", "opensearch://host/a,b",
        "opensearch://host/-a", "opensearch://host/a/b", "opensearch://host:port/a",
        "opensearch://host/a?tls=no", "opensearch://host/a?shards=0", "opensearch://host/a?x=1",
        "opensearch://user:xyzzy@host/a",
    ],
)  # fmt: skip
def test_another_url_is_refused_without_its_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="GROUNDWIRE_INDEX_URL") as caught:
        address_of(url)
    assert "xyzzy" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "kind", "told"),
    [
        (429, "circuit_breaking_exception", "is busy"),
        (429, "cluster_block_exception", "locked"),
        (403, "cluster_block_exception", "locked"),
        (403, "security_exception", "GROUNDWIRE_INDEX_PASSWORD"),
        (500, "already_closed_exception", "500 already_closed_exception"),
        (503, "search_phase_execution_exception", "503"),
    ],
)
def test_trouble_of_the_cluster_is_a_store_that_is_away(status: int, kind: str, told: str) -> None:
    error = TransportError(status, kind, {"error": {"type": kind, "reason": "xyzzy"}})
    with pytest.raises(WorldFault, match=told) as caught, faults(address_of(URL)):
        raise error
    assert "xyzzy" not in str(caught.value)


def test_a_request_that_is_wrong_is_a_fault_of_ours() -> None:
    error = TransportError(400, "parsing_exception", {"error": {"type": "parsing_exception"}})
    with pytest.raises(RuntimeError, match="refused a call: 400"), faults(address_of(URL)):
        raise error


async def test_a_cluster_that_is_not_there_is_a_store_that_is_away() -> None:
    port = free_port()
    index = open_index(f"opensearch://127.0.0.1:{port}/docs?tls=false", writer=False)
    scope = Scope("ns", frozenset({1}))
    secret = IndexDocument("t0", 0, "text", ["xyzzy"], [], "xyzzy")
    for call in (
        lambda: index.search("content", LexicalQuery(["a"]), scope, 5),
        lambda: index.digest("ns", 1),
        lambda: index.write("ns", 1, [secret]),
        lambda: index.remove("ns", [1]),
        index.purge,
    ):
        with pytest.raises(WorldFault, match="cannot be reached") as caught:
            await call()
        assert caught.value.code is Code.STORE_AWAY
        assert not any(word in str(caught.value) for word in ("xyzzy", "127.0.0.1", str(port)))
    await index.close()
    await index.close()
