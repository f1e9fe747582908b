"""The parser under test: profiler and parser as the services run them, without bus and stores."""

import asyncio
import shutil
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from eval.parsing.markdown import markdown
from eval.parsing.model import FoundHeading, FoundTable, Parsed
from eval.parsing.tables import cells_html
from eval.parsing.weight import hidden_weight
from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Row
from libs.runtime.sandbox.child import Attempt
from libs.runtime.sandbox.files import sha256_of
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.work import Work
from services.parser import attempts, child
from services.parser.rowfile import read_rows
from services.parser.settings import Settings as ParserSettings
from services.profiler import look
from services.profiler.settings import Settings as ProfilerSettings


@dataclass(frozen=True)
class Groundwire:
    """Profiler and parser in their sandboxes, kept warm between files as the services keep them."""

    profiler: Sandbox
    parser: Sandbox
    settings: ProfilerSettings
    folder: Path
    name: str = "groundwire"

    async def read(self, path: Path) -> Parsed:
        """The file's joined rows; raises the faults of the look and of parsing."""
        profile = await _profile(self, path)
        return parsed_rows(profile, await self._rows(path, profile))

    async def _rows(self, path: Path, profile: Profile) -> list[Row]:
        work = Work("eval")
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            files: list[Path] = []
            for number, pages in enumerate(profile.shards):
                async with attempts.parse_shard(
                    self.parser, path, profile, pages, None, work
                ) as shard:
                    files.append(Path(name) / f"{number}.rows")
                    shutil.copyfile(shard.file(child.ROWS), files[-1])
                    if shard.result["joined"]:
                        return list(read_rows(files))
            sums = [sha256_of(file) for file in files]
            async with attempts.join_shards(
                self.parser, profile, files, sums, [[] for _ in files], work
            ) as joined:
                return list(read_rows([joined.file(child.ROWS)]))


@dataclass(frozen=True)
class WithoutWeight:
    """The parser with the weight of every font hidden from it: a guard, not a product mode.

    Redrawn pages set all headings, and only those, in bold; a parser that leans on that scores
    well there and badly elsewhere. The library that reads PDFs is wrapped in this process, so
    that nothing in the parser knows of it.
    """

    base: Groundwire
    name: str = "groundwire, font weight hidden"

    async def read(self, path: Path) -> Parsed:
        """The file's joined rows, parsed in this process."""
        profile = await _profile(self.base, path)
        with tempfile.TemporaryDirectory(dir=self.base.folder) as name, hidden_weight():
            return parsed_rows(profile, _rows_in_process(Path(name), path, profile))


@asynccontextmanager
async def groundwire(jobs: int) -> AsyncIterator[Groundwire]:
    """The engine with its sandboxes, for up to `jobs` files at once; in the main thread."""
    with tempfile.TemporaryDirectory(prefix="groundwire-eval-") as name:
        folder = Path(name)
        here = {"scratch_dir": folder}
        profiling = ProfilerSettings().model_copy(update={**here, "profiler_slots": jobs})
        parsing = ParserSettings().model_copy(update={**here, "parser_slots": jobs})
        sandboxes = look.make_sandbox(profiling), attempts.make_sandbox(parsing)
        try:
            for sandbox in sandboxes:
                await sandbox.start()
            yield Groundwire(*sandboxes, settings=profiling, folder=folder)
        finally:
            for sandbox in sandboxes:
                await sandbox.close()


def parsed_rows(profile: Profile, rows: Sequence[Row]) -> Parsed:
    """What a document's rows say, in the terms of the metrics."""
    return Parsed(
        markdown=markdown(rows),
        plain="\n".join(_beside(profile, rows)),
        tables=tuple(
            FoundTable(_pages(row), tuple(row.cells), row.html or cells_html(row.cells))
            for row in rows
            if row.kind == "table" and not row.hidden
        ),
        headings=tuple(
            FoundHeading(row.text, row.level or 1, row.page)
            for row in rows
            if row.kind == "heading" and not row.hidden
        ),
        counts=dict(Counter(row.kind for row in rows)),
        pages=profile.page_count,
    )


def _beside(profile: Profile, rows: Sequence[Row]) -> Iterable[str]:
    """Text that is kept but not shown as content: metadata and what a reader does not see."""
    yield profile.title or ""
    yield from profile.metadata.values()
    for row in rows:
        if row.hidden:
            yield row.text
            yield from (cell.text for cell in row.cells)


def _pages(row: Row) -> frozenset[int]:
    pages = {box.page for box in row.boxes}
    return frozenset(pages or ({row.page} if row.page is not None else ()))


async def _profile(engine: Groundwire, path: Path) -> Profile:
    source = await asyncio.to_thread(_source, path)
    return await look.look(engine.profiler, source, engine.settings.bounds(), Work("eval"))


def _source(path: Path) -> look.Source:
    return look.Source(path.absolute(), path.name, path.stat().st_size, sha256_of(path))


def _rows_in_process(folder: Path, path: Path, profile: Profile) -> list[Row]:
    """What the children would do, without a sandbox: for trusted files alone."""
    files: list[Path] = []
    for number, pages in enumerate(profile.shards):
        attempt = _attempt(folder / f"shard-{number}")
        arguments = {
            "path": str(path.absolute()),
            "profile": profile.model_dump(mode="json"),
            "pages": pages.model_dump(mode="json"),
            "engine": None,
        }
        result = child.parse(arguments, attempt)
        files.append(attempt.out / child.ROWS)
        if result["joined"]:
            return list(read_rows(files))
    attempt = _attempt(folder / "join")
    child.join(
        {
            "profile": profile.model_dump(mode="json"),
            "rows": [str(file) for file in files],
            "sums": [sha256_of(file) for file in files],
            "findings": [[] for _ in files],
        },
        attempt,
    )
    return list(read_rows([attempt.out / child.ROWS]))


def _attempt(folder: Path) -> Attempt:
    attempt = Attempt(folder)
    attempt.scratch.mkdir(parents=True)
    attempt.out.mkdir()
    return attempt
