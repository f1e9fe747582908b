"""Other parsers and the metrics run in children with limits, as our own parser does.

Tree edit distance needs memory in the product of two trees, and a parser under comparison
may need any amount: what goes wrong with one file is that file's miss, never the run's end.
"""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from eval.parsing.model import Case, Parsed, Score
from eval.parsing.peers import PEERS, Peer
from eval.parsing.scoring import score
from libs.contracts.faults import Fault
from libs.runtime.sandbox.child import Attempt
from libs.runtime.sandbox.limits import Limits
from libs.runtime.sandbox.sandbox import Sandbox
from libs.runtime.sandbox.verdict import ChildCrashed
from libs.runtime.work import Work

READ = "eval.parsing.isolated:read_file"
SCORE = "eval.parsing.isolated:score_file"
SECONDS = 600.0
LIMITS = Limits(
    wall_seconds=SECONDS, stall_seconds=SECONDS, cpu_seconds=2 * int(SECONDS), memory_mb=4096
)
"""Of one file: generous, since a peer that fails here counts as a miss of its own."""

_CASE, _PARSED, _SCORE = TypeAdapter(Case), TypeAdapter(Parsed), TypeAdapter(Score)


def read_file(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """The file at `path` as the peer named `peer` reads it; its seconds are of the call alone."""
    peer = PEERS[arguments["peer"]]
    start = time.perf_counter()
    parsed = peer.call(Path(arguments["path"]))
    return dump_parsed(replace(parsed, seconds=time.perf_counter() - start))


def score_file(arguments: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """The score of `parsed` against the truth of `case`."""
    case, parsed = _CASE.validate_python(arguments["case"]), load_parsed(arguments["parsed"])
    dumped: dict[str, Any] = _SCORE.dump_python(score(case, parsed), mode="json")
    return dumped


def dump_parsed(parsed: Parsed) -> dict[str, Any]:
    """A parsed file as JSON, to come out of a child."""
    dumped: dict[str, Any] = _PARSED.dump_python(parsed, mode="json")
    return dumped


def load_parsed(dumped: dict[str, Any]) -> Parsed:
    """What `dump_parsed` dumped."""
    return _PARSED.validate_python(dumped)


@dataclass(frozen=True)
class IsolatedPeer:
    """A peer whose every file is read by a child of its own."""

    peer: Peer
    sandbox: Sandbox

    @property
    def name(self) -> str:
        """The peer's name."""
        return self.peer.name

    async def read(self, path: Path) -> Parsed:
        """The file as the peer reads it; raises what `Sandbox.run` raises."""
        arguments = {"peer": self.peer.name, "path": str(path)}
        async with self.sandbox.run(READ, arguments, work=Work("eval"), preloaded=True) as done:
            return load_parsed(done.result)


@dataclass(frozen=True)
class Scorer:
    """Scores files in children."""

    sandbox: Sandbox

    async def score(self, case: Case, parsed: Parsed) -> Score:
        """The score of one file; where it cannot be had, a miss whose note says why."""
        arguments = {
            "case": _CASE.dump_python(case, mode="json"),
            "parsed": dump_parsed(parsed),
        }
        try:
            async with self.sandbox.run(SCORE, arguments, work=Work("eval")) as done:
                return _SCORE.validate_python(done.result)
        except (Fault, ChildCrashed, RuntimeError) as problem:
            return score(case, Parsed(problem=f"not scored: {problem}"))


@asynccontextmanager
async def scorer(folder: Path, jobs: int, limits: Limits = LIMITS) -> AsyncIterator[Scorer]:
    """A scorer for up to `jobs` files at once; in the main thread."""
    preload = ("eval.parsing.isolated", "apted", "rapidfuzz", "selectolax.lexbor")
    async with _started([SCORE], folder / "scorer", jobs, preload, limits) as sandbox:
        yield Scorer(sandbox)


@asynccontextmanager
async def isolated(peer: Peer, folder: Path, jobs: int = 1) -> AsyncIterator[IsolatedPeer]:
    """The peer behind a sandbox that imported it ahead; in the main thread."""
    preload = ("eval.parsing.isolated", peer.module, *peer.preload)
    async with _started([READ], folder / peer.name, jobs, preload, LIMITS) as sandbox:
        yield IsolatedPeer(peer, sandbox)


@asynccontextmanager
async def _started(
    functions: Sequence[str], folder: Path, jobs: int, preload: Sequence[str], limits: Limits
) -> AsyncIterator[Sandbox]:
    sandbox = Sandbox(functions, folder, limits=limits, slots=jobs, preload=preload)
    await sandbox.start()
    try:
        yield sandbox
    finally:
        await sandbox.close()
