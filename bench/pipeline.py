"""Accepted → searchable for a small document, and a batch at full load, beside the raw
library calls that the pipeline makes."""

import asyncio
import json
import tempfile
import time
from pathlib import Path

import httpx

from bench.measure import Figure, Report, percentile, spread
from bench.start import cpu
from libs.contracts.artefacts import Chunk
from libs.contracts.artefacts.profile import PageRange, Profile
from libs.runtime.index.factory import open_index
from libs.runtime.index.tokenizer import tokenize
from libs.runtime.inference.tokens import TokenCounter
from services.chunker.build import build_chunks
from services.chunker.cut import Sizes
from services.chunker.tree import build_tree, document_title, visible
from services.indexer.documents import index_documents
from services.parser.formats import strategy
from services.parser.formats.base import AssetSink, ParseInput
from tests.support.documents import KOREAN, MARKDOWN
from tests.support.stack import Stack, running_stack

WARM_UP = 5
SMALL = 40
BATCH = 200


def small_document(number: int) -> bytes:
    """A page of Markdown, different for every number."""
    return f"{MARKDOWN}\n## Variant {number}\n\n{KOREAN}\nSerial {number}.\n".encode()


def raw_calls(folder: Path, numbers: range) -> list[float]:
    """Seconds of parse, cut with token counts, tokenise and index commit, per document."""
    counter = TokenCounter(folder / "models")
    counter.count("")
    index = open_index(f"file:{folder / 'raw-index'}", writer=True)
    source = folder / "raw.md"

    async def one(number: int) -> float:
        source.write_bytes(small_document(number))
        started = time.perf_counter()
        documents = index_documents(
            parse_and_cut(source, counter), title="raw", file_name="raw.md", tokenize=tokenize
        )
        await index.write("default", number + 1, documents)
        return time.perf_counter() - started

    async def all_of_them() -> list[float]:
        taken = [await one(number) for number in numbers]
        await index.close()
        return taken

    return asyncio.run(all_of_them())


def parse_and_cut(source: Path, counter: TokenCounter) -> list[Chunk]:
    """The format's strategy and the chunker's cuts, called directly, nothing encoded."""
    profile = Profile(
        format="md",
        media_type="text/markdown",
        file_name="raw.md",
        size=source.stat().st_size,
        sha256="0" * 64,
        encoding="utf-8",
    )
    pages = PageRange(first=0, last=0)
    given = ParseInput(source, profile, pages, AssetSink(source.parent), source.parent)
    rows = visible(strategy("md")(given).rows)
    chunks: list[Chunk] = []
    root = build_tree(rows, document_title(rows, None, "raw.md"))
    build_chunks(root, counter.count_many, Sizes(), {}, profile.language, chunks.append)
    return chunks


def send(client: httpx.Client, stack: Stack, name: str, number: int) -> str:
    """Upload a small document over the caller's connection; the id of its job."""
    files = {"file": (f"{name}-{number}.md", small_document(number))}
    answer = client.post(f"{stack.base}/documents", files=files)
    assert answer.status_code == 202, answer.text
    job_id: str = answer.json()["job_id"]
    return job_id


def hear_the_end(client: httpx.Client, stack: Stack, job_id: str) -> None:
    """Follow the events of a job until it is published."""
    last = ""
    with client.stream("GET", f"{stack.base}/jobs/{job_id}/events") as answer:
        for line in answer.iter_lines():
            last = line or last
    assert json.loads(last.removeprefix("data: "))["state"] == "published", last


def accepted_to_searchable(stack: Stack, numbers: range) -> list[float]:
    """Milliseconds from the accepting answer to the published state, one at a time."""
    taken = []
    with stack.client() as client:
        for number in numbers:
            job_id = send(client, stack, "small", number)
            started = time.perf_counter()
            hear_the_end(client, stack, job_id)
            taken.append(1000 * (time.perf_counter() - started))
    return taken


def batch_seconds(stack: Stack, numbers: range) -> float:
    """Seconds from the first upload to the last publish."""
    started = time.perf_counter()
    with stack.client() as client:
        for job_id in [send(client, stack, "batch", number) for number in numbers]:
            hear_the_end(client, stack, job_id)
    return time.perf_counter() - started


def cpu_by_service(stack: Stack) -> dict[str, float]:
    """CPU seconds so far of each service, its children included."""
    return {name: cpu(pid) for name, (pid, _) in stack.services().items()}


def run(report: Report) -> None:
    """Small documents, then a batch; the raw calls on the same kind of storage."""
    with running_stack(GROUNDWIRE_EMBEDDER="none") as stack:
        accepted_to_searchable(stack, range(WARM_UP))
        small = accepted_to_searchable(stack, range(WARM_UP, WARM_UP + SMALL))
        before = cpu_by_service(stack)
        batch = batch_seconds(stack, range(1000, 1000 + BATCH))
        after = cpu_by_service(stack)
        with tempfile.TemporaryDirectory(dir=stack.data) as folder:
            raw = raw_calls(Path(folder), range(2000, 2000 + WARM_UP + SMALL))[WARM_UP:]
    baseline = 1000 * percentile(raw, 0.5)
    report.add(
        Figure(
            "small document, accepted → searchable (p50 / p95)",
            spread(small),
            f"{baseline:.1f} ms raw",
            percentile(small, 0.5) / baseline,
            "<= 4",
        )
    )
    each = sum(raw) / len(raw)
    report.add(
        Figure(
            f"batch of {BATCH} small documents",
            f"{1000 * batch / BATCH:.1f} ms each",
            f"{1000 * each:.1f} ms raw",
            batch / BATCH / each,
            "<= 1.25",
        )
    )
    for name in sorted(after):
        used = 1000 * (after[name] - before[name]) / BATCH
        report.add(Figure(f"CPU of a document in the batch, {name}", f"{used:.1f} ms"))
