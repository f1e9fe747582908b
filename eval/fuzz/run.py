"""Send mutated files through profiler and parser, as the services run them, and count the ends."""

import asyncio
import random
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.fuzz.mutations import mutations_of
from eval.parsing.ours import Groundwire, groundwire
from libs.contracts.faults import DocumentFault, Fault
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.sandbox.usage import children_of
from libs.runtime.sandbox.verdict import ChildCrashed

LARGEST = 4 << 20
"""Bytes of a file that is worth mutating: larger ones only take longer."""
GRACE_SECONDS = 5.0


@dataclass(frozen=True)
class Input:
    """A mutated file: how it came about, and its bytes."""

    name: str
    suffix: str
    data: bytes


@dataclass
class Report:
    """The ends by kind (`read`, a fault's code, `crashed`, `bug`), and what must not be.

    A crash is contained: the service makes it the fault `parser_crashed` when it comes twice.
    `broken` names inputs that ended as a bug or a fault of the world; `hung` counts children
    that outlived their attempt; `lost` counts deaths of a fork server.
    """

    ends: dict[str, Counter[str]] = field(default_factory=dict)
    crashed: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    hung: int = 0
    lost: int = 0

    @property
    def ok(self) -> bool:
        """Whether every end was a result or a document's fault, and nothing was left behind."""
        return not (self.broken or self.crashed or self.hung or self.lost)


def sources(data: Path) -> dict[str, list[Path]]:
    """The files below `data` by their suffix."""
    found: dict[str, list[Path]] = {}
    for path in sorted(data.rglob("*")):
        if path.is_file() and 0 < path.stat().st_size <= LARGEST and path.suffix:
            found.setdefault(path.suffix[1:].lower(), []).append(path)
    return found


def inputs(files: Mapping[str, Sequence[Path]], each: int, seed: int) -> Iterator[Input]:
    """`each` mutated files of every format; the same for the same seed."""
    for number in range(each):
        for suffix in sorted(files):
            chance = random.Random(zlib.crc32(f"{seed} {suffix} {number}".encode()))
            path, other = (chance.choice(files[suffix]) for _ in range(2))
            data = path.read_bytes()
            mutate = chance.choice(mutations_of(suffix, data))
            name = f"{suffix}-{seed}-{number} {mutate.__name__} of {path.name}"
            yield Input(name, suffix, mutate(data, other.read_bytes(), chance))


async def fuzz(
    given: Iterator[Input], *, jobs: int, seconds: float, keep: Path | None = None
) -> Report:
    """Send inputs until they or `seconds` are used up; failing ones are kept in `keep`."""
    report, until = Report(), time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="groundwire-fuzz-") as name:
        async with groundwire(jobs) as engine:
            sandboxes = (engine.profiler, engine.parser)
            pids = [s.zygote_pid for s in sandboxes]
            await asyncio.gather(
                *(_work(engine, given, Path(name) / str(n), until, report, keep)
                  for n in range(jobs))
            )  # fmt: skip
            report.lost = sum(s.zygote_pid != pid for s, pid in zip(sandboxes, pids, strict=True))
            report.hung = await _left(sandboxes)
    return report


async def _work(
    engine: Groundwire, given: Iterator[Input], folder: Path, until: float, report: Report,
    keep: Path | None,
) -> None:  # fmt: skip
    await asyncio.to_thread(folder.mkdir)
    for one in given:
        path = folder / f"source.{one.suffix}"
        await asyncio.to_thread(path.write_bytes, one.data)
        start = time.monotonic()
        end = await _end(engine, path)
        report.slowest = max(report.slowest, (time.monotonic() - start, one.name))
        kind = end.partition(":")[0]
        report.ends.setdefault(one.suffix, Counter())[kind] += 1
        if kind in ("crashed", "bug", "world"):
            (report.crashed if kind == "crashed" else report.broken).append(f"{one.name}: {end}")
            if keep is not None:
                await asyncio.to_thread(_keep, keep, one)
        if time.monotonic() > until:
            return


async def _end(engine: Groundwire, path: Path) -> str:
    try:
        await engine.read(path)
    except DocumentFault as fault:
        return str(fault.code)
    except Fault as fault:
        return f"world: {fault}"
    except ChildCrashed as crash:
        return f"crashed: {crash.signal_name}"
    except Exception as problem:
        return f"bug: {type(problem).__name__} {problem}"[:300]
    return "read"


async def _left(sandboxes: Sequence[Sandbox]) -> int:
    """Children that are still there once all attempts are over."""
    until = time.monotonic() + GRACE_SECONDS
    while True:
        left = sum(len(children_of(s.zygote_pid)) for s in sandboxes if s.zygote_pid)
        if not left or time.monotonic() > until:
            return left
        await asyncio.sleep(0.1)


def _keep(folder: Path, one: Input) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{one.name.split()[0]}.{one.suffix}").write_bytes(one.data)
