"""Accepted → searchable for a small document, and a batch at full load, beside the raw
library calls that the pipeline makes."""

import asyncio
import tempfile
import time
from pathlib import Path

from bench.measure import Figure, Report, percentile, spread
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


def accepted_to_searchable(stack: Stack, numbers: range) -> list[float]:
    """Milliseconds from the accepting answer to the published state, one at a time."""
    taken = []
    for number in numbers:
        accepted = stack.upload(f"small-{number}.md", small_document(number))
        started = time.perf_counter()
        job = stack.wait(accepted["job_id"])
        assert job["state"] == "published", job
        taken.append(1000 * (time.perf_counter() - started))
    return taken


def batch_seconds(stack: Stack, numbers: range) -> float:
    """Seconds from the first upload to the last publish."""
    started = time.perf_counter()
    jobs = [
        stack.upload(f"batch-{number}.md", small_document(number))["job_id"] for number in numbers
    ]
    for job_id in jobs:
        assert stack.wait(job_id, 300)["state"] == "published"
    return time.perf_counter() - started


def run(report: Report) -> None:
    """Small documents, then a batch; the raw calls on the same kind of storage."""
    with running_stack(GROUNDWIRE_EMBEDDER="none") as stack:
        accepted_to_searchable(stack, range(WARM_UP))
        small = accepted_to_searchable(stack, range(WARM_UP, WARM_UP + SMALL))
        batch = batch_seconds(stack, range(1000, 1000 + BATCH))
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
