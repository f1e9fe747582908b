"""The seven services on all four stores: a document's way in, a query's way out, and erasure."""

import os
import threading
import time

import pytest

from tests.support.documents import KOREAN, of_every_format
from tests.support.held import Holdings, held, revns_of
from tests.support.stack import NAMESPACE, Stack

FILES = of_every_format()
SECTIONS = 4
EDITIONS = 6
Places = dict[str, str]


@pytest.fixture(scope="module")
def ingested(stack: Stack) -> dict[str, dict]:
    accepted = {name: stack.upload(name, data) for name, (data, _) in FILES.items()}
    for name, answer in accepted.items():
        job = stack.wait(answer["job_id"], 240)
        assert job["state"] == "published", (name, job)
    return accepted


@pytest.mark.parametrize("name", FILES)
def test_every_format_is_found_in_both_languages(
    stack: Stack, ingested: dict[str, dict], name: str
) -> None:
    found = stack.search(FILES[name][1], top_k=3)["evidence"]
    assert found[0]["document_id"] == ingested[name]["document_id"]
    assert found[0]["source_file_name"] == name
    source = stack.get(f"/documents/{ingested[name]['document_id']}/source")
    assert source.content == FILES[name][0]


def test_every_store_holds_what_was_published(
    stack: Stack, places: Places, ingested: dict[str, dict]
) -> None:
    document_id = ingested["safety.txt"]["document_id"]
    chunks = stack.get(f"/documents/{document_id}/chunks").json()["chunks"]
    found = held(places, NAMESPACE, document_id)
    assert (found.search, found.graph) == (len(chunks), 1)
    assert found.catalog > len(chunks)
    assert found.objects > 5


def almanac(edition: int) -> bytes:
    parts = [f"# 연감 Almanac {edition}\n"]
    for n in range(SECTIONS):
        parts.append(f"## 장 {n}\n\nThe almanac speaks of comet {n}, 판본 표시 ed{edition}x.\n")
    return "\n".join(parts).encode()


def test_readers_see_the_old_revision_or_the_new_one_whole(stack: Stack) -> None:
    stack.ingest("almanac.md", almanac(0), document_id="almanac")
    stop, faults, reads = threading.Event(), [], [0]

    def read() -> None:
        while not stop.is_set():
            pieces = stack.search("almanac 연감", top_k=50, filters={"document_ids": ["almanac"]})
            reads[0] += 1
            told = {
                (p["revision"], word)
                for p in pieces["evidence"]
                for word in p["content"].replace(".", " ").split()
                if word.startswith("ed") and word.endswith("x")
            }
            if len(pieces["evidence"]) < SECTIONS or len(told) != 1:
                faults.append(f"{len(pieces['evidence'])} pieces of {told}")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for edition in range(1, EDITIONS):
            stack.ingest("almanac.md", almanac(edition), document_id="almanac")
    finally:
        stop.set()
        reader.join()
    assert faults == []
    assert reads[0] > EDITIONS
    assert stack.get("/documents/almanac").json()["active_revision"] == EDITIONS


def test_rolling_back_shows_the_earlier_text_at_once(stack: Stack) -> None:
    stack.ingest("ledger.md", b"# Ledger\n\nThe balance is alpha-one.\n", document_id="ledger")
    stack.ingest("ledger.md", b"# Ledger\n\nThe balance is beta-two.\n", document_id="ledger")
    for revision, text in ((1, "alpha-one"), (2, "beta-two")):
        with stack.client() as client:
            url = f"{stack.base}/documents/ledger/revisions/{revision}/activate"
            client.post(url).raise_for_status()
        (piece,) = stack.search("balance", filters={"document_ids": ["ledger"]})["evidence"]
        assert (piece["revision"], text in piece["content"]) == (revision, True)


def test_only_the_kept_revisions_stay_in_the_stores(stack: Stack, places: Places) -> None:
    for n in range(4):
        text = f"# Notes\n\nEntry number {n} of the notes.\n"
        stack.ingest("notes.md", text.encode(), document_id="notes")
    deadline = time.monotonic() + 60
    while (found := held(places, NAMESPACE, "notes")).graph != 2 or found.search != 2:
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def test_erasure_leaves_nothing_in_any_store(stack: Stack, places: Places) -> None:
    accepted = stack.ingest("secret.md", KOREAN.encode() + b"\n\nThe vermilion cipher.\n")
    document_id = accepted["document_id"]
    assert stack.search("vermilion cipher")["evidence"][0]["document_id"] == document_id
    revns = revns_of(places, NAMESPACE, document_id)
    before = held(places, NAMESPACE, document_id)
    with stack.client() as client:
        answer = client.delete(f"{stack.base}/documents/{document_id}")
        assert answer.status_code == 202, answer.text
        assert client.get(f"{stack.base}/documents/{document_id}").status_code == 404
    deadline = time.monotonic() + 60
    receipt = f"/erasures/{answer.json()['erasure_id']}"
    while (told := stack.get(receipt).json())["state"] != "erased":
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    assert told["requery_hits"] == 0
    assert told["removed"]["search"] == before.search > 0
    assert told["removed"]["graph"] == before.graph == 1
    assert told["removed"]["objects"] > 0
    assert told["removed"]["catalog"] > 0
    assert held(places, NAMESPACE, document_id, revns) == Holdings(0, 0, 0, 0, 0)
    for query in ("vermilion cipher", "안전모 안전화"):
        found = stack.search(query)["evidence"]
        assert document_id not in {piece["document_id"] for piece in found}


@pytest.mark.parametrize("victim", ["indexer", "gateway"])
def test_a_killed_service_loses_nothing(stack: Stack, places: Places, victim: str) -> None:
    texts = {f"{victim}-{n}": f"# {victim} {n}\n\nItem {n} 항목 of {victim}.\n" for n in range(6)}
    jobs = {
        name: stack.upload(f"{name}.md", text.encode(), document_id=name)["job_id"]
        for name, text in texts.items()
    }
    pid, _ = stack.services()[victim]
    os.kill(pid, 9)
    deadline = time.monotonic() + 60
    while stack.services().get(victim, (pid, 0))[0] == pid or not stack.ready():
        assert time.monotonic() < deadline, f"{victim} did not come back"
        time.sleep(0.1)
    for name, job_id in jobs.items():
        assert stack.wait(job_id, 120)["state"] == "published"
        chunks = stack.get(f"/documents/{name}/chunks").json()["chunks"]
        found = held(places, NAMESPACE, name)
        assert (found.search, found.graph) == (len(chunks), 1)
