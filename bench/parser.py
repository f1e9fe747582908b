"""A long PDF through the parser's sandbox beside the raw library calls that it makes, the memory
of its processes, and whether memory stays flat over many small documents."""

import asyncio
import gzip
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from bench.measure import Figure, Report
from libs.contracts.artefacts.profile import Profile
from libs.runtime.sandbox.files import sha256_of
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.sandbox.usage import PAGE, tree
from libs.runtime.work import Work
from services.parser.attempts import join_shards, make_sandbox, parse_shard
from services.parser.child import ROWS
from services.parser.formats.pdf_read import READING, WINDOW
from services.parser.settings import Settings
from services.profiler.profile import profile_file
from tests.support.documents import MARKDOWN
from tests.support.pdfs import PdfPage, write_pdf

MANUALS = (
    "/usr/share/doc/octave/octave.pdf",
    "/usr/share/doc/r-doc-pdf/manual/R-exts.pdf",
    "/usr/share/doc/debian-policy/policy.pdf.gz",
)
"""Of Debian's packages octave-doc, r-doc-pdf and debian-policy; the first that is there."""
DRAWN_PAGES = 400
SMALL_DOCUMENTS = 1000
POLL_SECONDS = 0.05
MB = 1 << 20


def run(report: Report) -> None:
    """Speed and memory of the parser."""
    with tempfile.TemporaryDirectory(prefix="groundwire-bench-") as name:
        asyncio.run(_measure(report, Path(name)))


async def _measure(report: Report, folder: Path) -> None:
    path = _manual(folder)
    profile = _profile(path)
    pages = profile.page_count
    settings = Settings().model_copy(update={"scratch_dir": folder, "parser_slots": 1})
    async with _started(settings) as sandbox:
        await _parsed(sandbox, path, profile, folder, shards=1)
        raw = _raw_seconds(path, pages)
        most = _Most(sandbox)
        async with most.watched():
            started = time.perf_counter()
            await _parsed(sandbox, path, profile, folder)
            ours = time.perf_counter() - started
        report.add(
            Figure(
                f"parser, {pages} pages, one core", f"{pages / ours:.0f} pages/s",
                f"{pages / raw:.0f} pages/s", raw / ours, ">= 0.80",
            )
        )  # fmt: skip
        report.add(
            Figure("parser, largest process", f"{most.resident // MB} MB", "", None, "600 MB")
        )
        await _flat(report, sandbox, folder)


async def _flat(report: Report, sandbox: Sandbox, folder: Path) -> None:
    """Resident memory of the service and its fork server after a tenth and all of many files."""
    path = folder / "small.md"
    path.write_text(MARKDOWN)
    profile = _profile(path)
    early = 0
    for number in range(SMALL_DOCUMENTS):
        await _parsed(sandbox, path, profile, folder)
        if number == SMALL_DOCUMENTS // 10:
            early = _standing(sandbox)
    late = _standing(sandbox)
    report.add(
        Figure(
            f"parser, memory over {SMALL_DOCUMENTS} documents", f"{late // MB} MB",
            f"{early // MB} MB", late / early, "<= 1.05",
        )
    )  # fmt: skip


async def _parsed(
    sandbox: Sandbox, path: Path, profile: Profile, folder: Path, shards: int | None = None
) -> None:
    """Parse the document as the service does: shard after shard, then the join."""
    work, files = Work("bench"), []
    for number, pages in enumerate(profile.shards[:shards]):
        async with parse_shard(sandbox, path, profile, pages, None, work) as done:
            files.append(folder / f"{number}.rows")
            files[-1].write_bytes(done.file(ROWS).read_bytes())
    if shards is None and len(files) > 1:
        sums = [sha256_of(file) for file in files]
        async with join_shards(sandbox, profile, files, sums, [[] for _ in files], work):
            pass


def _raw_seconds(path: Path, pages: int) -> float:
    """Seconds of the library calls alone: liteparse's reading, PDFium's text of each page."""
    import pypdfium2
    from liteparse import LiteParse

    started = time.perf_counter()
    for first in range(1, pages + 1, WINDOW):
        LiteParse(**READING, target_pages=f"{first}-{min(first + WINDOW - 1, pages)}").parse(path)
    document = pypdfium2.PdfDocument(path)  # type: ignore[no-untyped-call]
    for page in document:
        page.get_textpage().get_text_range()
    document.close()  # type: ignore[no-untyped-call]
    return time.perf_counter() - started


class _Most:
    """The most that any one process below a fork server has resident while it is watched."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self.resident = 0

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Look every few milliseconds until the block is left."""
        task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self) -> None:
        while True:
            for pid in tree(self._sandbox.zygote_pid or 0):
                self.resident = max(self.resident, _resident(str(pid)))
            await asyncio.sleep(POLL_SECONDS)


def _standing(sandbox: Sandbox) -> int:
    return _resident("self") + _resident(str(sandbox.zygote_pid))


def _resident(process: str) -> int:
    with suppress(OSError):
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * PAGE
    return 0


@asynccontextmanager
async def _started(settings: Settings) -> AsyncIterator[Sandbox]:
    sandbox = make_sandbox(settings)
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()


def _manual(folder: Path) -> Path:
    """A long PDF: a manual where one is installed, else drawn pages of text and tables."""
    target = folder / "manual.pdf"
    for name in MANUALS:
        if (path := Path(name)).is_file():
            data = path.read_bytes()
            target.write_bytes(gzip.decompress(data) if path.suffix == ".gz" else data)
            return target
    target.write_bytes(write_pdf(*(_drawn(number) for number in range(DRAWN_PAGES))))
    return target


def _drawn(number: int) -> PdfPage:
    page = PdfPage().text(72, 90, f"{number + 1} Section", 16, bold=True)
    page.lines(
        72, 120, [f"Line {line} of the page tells of pumps and valves." for line in range(30)]
    )
    page.grid([72, 200, 330], [520, 540, 560])
    return page.text(80, 535, f"Valve {number}").text(210, 535, f"{number} bar")


def _profile(path: Path) -> Profile:
    return profile_file(path, file_name=path.name, size=path.stat().st_size, sha256=sha256_of(path))
