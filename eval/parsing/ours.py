"""The parser under test: profiler and parser as the services run them, without bus and stores."""

import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from eval.parsing.isolated import dump_parsed, load_parsed
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

ROWS = "eval.parsing.ours:rows_of"
BLIND = "eval.parsing.ours:rows_without_weight"


@dataclass(frozen=True)
class Groundwire:
    """Profiler and parser in their sandboxes, kept warm between files as the services keep them.

    `helper` runs what belongs to the evaluation alone.
    """

    profiler: Sandbox
    parser: Sandbox
    helper: Sandbox
    settings: ProfilerSettings
    folder: Path
    name: str = "groundwire"

    async def read(self, path: Path) -> Parsed:
        """The file's joined rows; raises the faults of the look and of parsing."""
        start = time.perf_counter()
        profile = await _profile(self, path)
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            rows = await self._rows(path, profile, Path(name))
            seconds = time.perf_counter() - start
            arguments = {"profile": profile.model_dump(mode="json"), "rows": str(rows)}
            async with self.helper.run(ROWS, arguments, work=Work("eval")) as done:
                return replace(load_parsed(done.result), seconds=seconds)

    async def _rows(self, path: Path, profile: Profile, folder: Path) -> Path:
        work = Work("eval")
        files: list[Path] = []
        for number, pages in enumerate(profile.shards):
            async with attempts.parse_shard(self.parser, path, profile, pages, None, work) as shard:
                files.append(folder / f"{number}.rows")
                shutil.copyfile(shard.file(child.ROWS), files[-1])
                if shard.result["joined"]:
                    return files[-1]
        sums = [sha256_of(file) for file in files]
        async with attempts.join_shards(
            self.parser, profile, files, sums, [[] for _ in files], work
        ) as joined:
            return shutil.copyfile(joined.file(child.ROWS), folder / "joined.rows")


@dataclass(frozen=True)
class WithoutWeight:
    """The parser with the weight of every font hidden from it: a guard, not a product mode.

    Redrawn pages set all headings, and only those, in bold; a parser that leans on that scores
    well there and badly elsewhere. The library that reads PDFs is wrapped in the child that
    reads the file, so that nothing in the parser knows of it.
    """

    base: Groundwire
    name: str = "groundwire, font weight hidden"

    async def read(self, path: Path) -> Parsed:
        """The file's joined rows."""
        profile = await _profile(self.base, path)
        arguments = {"profile": profile.model_dump(mode="json"), "path": str(path)}
        async with self.base.helper.run(BLIND, arguments, work=Work("eval")) as done:
            return load_parsed(done.result)


def rows_of(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """What the joined rows of a document say, in the terms of the metrics."""
    profile = Profile.model_validate(arguments["profile"])
    return dump_parsed(parsed_rows(profile, list(read_rows([Path(arguments["rows"])]))))


def rows_without_weight(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """The same of a file that is parsed here, the weight of its fonts hidden."""
    profile = Profile.model_validate(arguments["profile"])
    with hidden_weight():
        rows = _rows_here(attempt.scratch, Path(arguments["path"]), profile)
    return dump_parsed(parsed_rows(profile, rows))


@asynccontextmanager
async def groundwire(jobs: int) -> AsyncIterator[Groundwire]:
    """The engine with its sandboxes, for up to `jobs` files at once; in the main thread."""
    with tempfile.TemporaryDirectory(prefix="groundwire-eval-") as name:
        folder = Path(name)
        here = {"scratch_dir": folder}
        profiling = ProfilerSettings().model_copy(update={**here, "profiler_slots": jobs})
        parsing = ParserSettings().model_copy(update={**here, "parser_slots": jobs})
        sandboxes = (
            look.make_sandbox(profiling),
            attempts.make_sandbox(parsing),
            Sandbox([ROWS, BLIND], folder / "helper", limits=parsing.limits(), slots=jobs,
                    preload=("eval.parsing.ours", "liteparse", "pypdfium2")),
        )  # fmt: skip
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
    profile, _ = await look.look(engine.profiler, source, engine.settings.bounds(), Work("eval"))
    return profile


def _source(path: Path) -> look.Source:
    return look.Source(path.absolute(), path.name, path.stat().st_size, sha256_of(path))


def _rows_here(folder: Path, path: Path, profile: Profile) -> list[Row]:
    """What the parser's children would do, in this one."""
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
