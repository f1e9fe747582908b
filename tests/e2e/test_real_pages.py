"""A whole set of real pages through the real services: sent, published, found and cited."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack import Stack, running_stack

PDFS = (
    Path(__file__).resolve().parents[3]
    / "shared" / "data" / "parsing" / "opendataloader-rerendered" / "pdfs"
)  # fmt: skip
WORDS = 16
PATIENCE = 400.0

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PDFS.is_dir(), reason="the measuring data is not beside the project"),
]


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running_stack(GROUNDWIRE_EMBEDDER="none") as running:
        yield running


def words_of(chunks: list[dict]) -> str:
    """The first words of the chunk with the most of them: what a reader may ask for."""
    texts = [re.findall(r"[^\W_]{3,}", chunk["content"]) for chunk in chunks]
    return " ".join(max(texts, key=len)[:WORDS])


def test_every_page_of_a_set_is_published_and_cited(stack: Stack) -> None:
    files = sorted(PDFS.glob("*.pdf"))
    assert len(files) > 90
    sent = {path.name: stack.upload(path.name, path.read_bytes()) for path in files}
    jobs = {name: stack.wait(one["job_id"], PATIENCE) for name, one in sent.items()}
    unpublished = {n: job["error"] for n, job in jobs.items() if job["state"] != "published"}
    assert not unpublished
    uncited = []
    for name, one in sent.items():
        chunks = stack.get(f"/documents/{one['document_id']}/chunks").json()["chunks"]
        assert chunks, name
        evidence = stack.search(words_of(chunks), top_k=10)["evidence"]
        cited = [e for e in evidence if e["document_id"] == one["document_id"]]
        if not cited:
            uncited.append(name)
            continue
        assert cited[0]["source_file_name"] == name
        assert cited[0]["revision"] == 1
        assert cited[0]["page_numbers"], name
        assert cited[0]["content_hash"].startswith("sha256:")
    assert not uncited
