"""One revision at a time: re-publish, roll back, delete, while others read."""

import threading

import pytest

from tests.support.stack import Stack
from tests.support.waiting import wait_until

SECTIONS = 6


def body(edition: int) -> bytes:
    parts = [f"# Almanac edition {edition}\n"]
    for n in range(SECTIONS):
        parts.append(
            f"## Chapter {n}\n\nThe almanac speaks of comet {n}, edition marker ed{edition}x.\n"
        )
    return "\n".join(parts).encode()


@pytest.mark.parametrize("editions", [12, pytest.param(50, marks=pytest.mark.slow)])
def test_readers_see_the_old_revision_or_the_new_one_whole(stack: Stack, editions: int) -> None:
    document_id = f"almanac-{editions}"
    filters = {"document_ids": [document_id]}
    stack.ingest("almanac.md", body(0), document_id=document_id)
    stop = threading.Event()
    faults: list[str] = []
    reads = [0]

    def read() -> None:
        while not stop.is_set():
            answer = stack.search("almanac comet", top_k=50, filters=filters)
            pieces = answer["evidence"]
            reads[0] += 1
            revisions = {p["revision"] for p in pieces}
            markers = {
                w for p in pieces for w in p["content"].split() if w.startswith("ed") and "x" in w
            }
            if len(pieces) < SECTIONS or len(revisions) != 1 or len(markers) != 1:
                faults.append(f"{len(pieces)} pieces, revisions {revisions}, markers {markers}")

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for edition in range(1, editions + 1):
            stack.ingest("almanac.md", body(edition), document_id=document_id)
    finally:
        stop.set()
        reader.join()
    assert faults == []
    assert reads[0] > editions / 3
    assert stack.get(f"/documents/{document_id}").json()["active_revision"] == editions + 1


def test_roll_back_is_a_flip(stack: Stack) -> None:
    stack.ingest("ledger.md", b"# Ledger\n\nThe balance is alpha-one.\n", document_id="ledger")
    stack.ingest("ledger.md", b"# Ledger\n\nThe balance is beta-two.\n", document_id="ledger")
    filters = {"document_ids": ["ledger"]}
    with stack.client() as client:
        answer = client.post(f"{stack.base}/documents/ledger/revisions/1/activate")
        assert answer.status_code == 200, answer.text
    (piece,) = stack.search("balance", filters=filters)["evidence"]
    assert "alpha-one" in piece["content"]
    assert piece["revision"] == 1
    with stack.client() as client:
        client.post(f"{stack.base}/documents/ledger/revisions/2/activate")
        missing = client.post(f"{stack.base}/documents/ledger/revisions/7/activate")
    assert missing.status_code == 404
    (piece,) = stack.search("balance", filters=filters)["evidence"]
    assert "beta-two" in piece["content"]


def test_equal_bytes_make_no_new_revision(stack: Stack) -> None:
    first = stack.ingest("same.md", b"# Same\n\nNothing new.\n", document_id="same")
    again = stack.upload("same.md", b"# Same\n\nNothing new.\n", document_id="same")
    assert again["outcome"] == "unchanged"
    assert again["revision"] == first["revision"]


def test_a_citation_is_verified_and_then_superseded(stack: Stack) -> None:
    stack.ingest("oath.md", b"# Oath\n\nThe keeper tends the lamp.\n", document_id="oath")
    (piece,) = stack.search("keeper lamp", filters={"document_ids": ["oath"]})["evidence"]
    citation = {k: piece[k] for k in ("document_id", "revision", "chunk_id", "content_hash")}
    with stack.client() as client:
        verify = f"{stack.base}/verify"
        quoted = {**citation, "quote": "tends the lamp"}
        assert client.post(verify, json=quoted).json()["status"] == "verified"
        wrong = {**citation, "quote": "drops the lamp"}
        assert client.post(verify, json=wrong).json()["status"] == "mismatch"
    stack.ingest("oath.md", b"# Oath\n\nThe keeper is gone.\n", document_id="oath")
    with stack.client() as client:
        answer = client.post(verify, json=quoted).json()
    assert (answer["status"], answer["active_revision"]) == ("superseded", 2)


def test_delete_hides_at_once_then_erases_with_a_receipt(stack: Stack) -> None:
    stack.ingest("secret.md", b"# Secret\n\nThe vermilion cipher.\n", document_id="secret-doc")
    (piece,) = stack.search("vermilion cipher", filters={"document_ids": ["secret-doc"]})[
        "evidence"
    ]
    with stack.client() as client:
        answer = client.delete(f"{stack.base}/documents/secret-doc")
        assert answer.status_code == 202, answer.text
        erasure = answer.json()["erasure_id"]
        assert client.get(f"{stack.base}/documents/secret-doc").status_code == 404
    found = stack.search("vermilion cipher")["evidence"]
    assert all(p["document_id"] != "secret-doc" for p in found)
    wait_until(lambda: stack.get(f"/erasures/{erasure}").json()["state"] == "erased")
    receipt = stack.get(f"/erasures/{erasure}").json()
    assert receipt["requery_hits"] == 0
    assert {"objects", "catalog", "search", "graph"} <= set(receipt["removed"])
    assert receipt["removed"]["objects"] > 0
    left = [
        p for p in (stack.data / "objects").rglob("*") if "secret-doc" in str(p) and p.is_file()
    ]
    assert left == []
    with stack.client() as client:
        verify = client.post(
            f"{stack.base}/verify",
            json={k: piece[k] for k in ("document_id", "revision", "chunk_id", "content_hash")},
        )
    assert verify.json()["status"] == "erased"
