"""Run engines over sets, file by file."""

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from eval.parsing.model import Case, Parsed, Score


class Engine(Protocol):
    """Reads one file at an absolute path; raises when it cannot."""

    async def read(self, path: Path) -> Parsed:
        """The file as this engine reads it, `seconds` filled where it measures them itself."""
        ...


class Scorer(Protocol):
    """Scores what was read; never raises over a file."""

    async def score(self, case: Case, parsed: Parsed) -> Score:
        """The figures of one file."""
        ...


@dataclass
class Run:
    """What one engine did: the scores of all files, by set, in the sets' order."""

    engine: str
    scores: dict[str, list[Score]] = field(default_factory=dict)


Tell = Callable[[str, Score], None]
"""Called with the engine's name after each file."""


async def run(
    name: str,
    engine: Engine,
    sets: Mapping[str, Sequence[Case]],
    scorer: Scorer,
    *,
    jobs: int = 1,
    keep: Path | None = None,
    tell: Tell = lambda engine, done: None,
) -> Run:
    """Read and score every case, at most `jobs` at once.

    A failure of the engine is a result: the file scores 0 and its note says why. With `keep`,
    the Markdown of each file is written below `keep/<engine>/<set>/`.
    """
    slots = asyncio.Semaphore(jobs)

    async def one(case: Case) -> Score:
        async with slots:
            parsed = await _read(engine, case.path)
            if keep is not None:
                _keep(keep / name / case.set_name / f"{case.name}.md", parsed)
            done = await scorer.score(case, parsed)
            tell(name, done)
            return done

    result = Run(name)
    for set_name, cases in sets.items():
        result.scores[set_name] = list(await asyncio.gather(*(one(case) for case in cases)))
    return result


async def _read(engine: Engine, path: Path) -> Parsed:
    start = time.perf_counter()
    try:
        parsed = await engine.read(path)
    except Exception as problem:
        text = str(problem) or type(problem).__name__
        return Parsed(seconds=time.perf_counter() - start, problem=" ".join(text.split())[:300])
    return replace(parsed, seconds=parsed.seconds or time.perf_counter() - start)


def _keep(target: Path, parsed: Parsed) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(parsed.markdown, "utf-8")
