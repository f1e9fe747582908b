"""Run a function over an untrusted file in a child process, within bounds."""

import asyncio
import json
import os
import shutil
import signal
import stat
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from opentelemetry.trace import Span

from libs.contracts.faults import Code, WorldFault
from libs.runtime.sandbox.limits import MB, Limits
from libs.runtime.sandbox.scratch import ScratchRoot
from libs.runtime.sandbox.server import ForkServer, Run
from libs.runtime.sandbox.usage import usage_of
from libs.runtime.sandbox.verdict import End, Killed, verdict
from libs.runtime.sandbox.zygote import Config
from libs.runtime.telemetry import logger
from libs.runtime.tracing import record_error, tracer
from libs.runtime.work import Work

POLL_SECONDS = 0.1
KILL_SECONDS = 2.0
START_SECONDS = 60.0
MAX_ANSWER = 64 * MB
CPU_STEP = 0.05

log = logger("sandbox")


@dataclass(frozen=True)
class Finished:
    """An attempt that ended well: what its function returned, and the files it wrote."""

    result: dict[str, Any]
    folder: Path

    def file(self, name: str) -> Path:
        """The output `name`: a regular file below `out/`, reached over no link.

        `WorldFault` when there is none: a child that was wrong about its own outputs.
        """
        root = (self.folder / "out").resolve()
        path = root / name
        with suppress(OSError, ValueError):
            inside = path.is_relative_to(root) and path.resolve(strict=True) == path
            if inside and stat.S_ISREG(path.lstat().st_mode):
                return path
        raise WorldFault(Code.WORKER_LOST, "a worker process left no such output")


class Sandbox:
    """A fork server and the watch over its children; at most `slots` of them at a time.

    `functions` (`module:function`) are all that may ever run: each takes the job's arguments
    and an `Attempt`, and returns a JSON object. `preload` names modules to import ahead,
    one by one, `preload_delay` seconds after the start, or when a job asks for all of them;
    a job that comes meanwhile waits for one import at most. With `light` there is a second fork
    server that imports these alone, for jobs that need no others: its children cost half,
    since forking and ending a process takes time in proportion to its memory.
    """

    def __init__(
        self,
        functions: Sequence[str],
        scratch: Path,
        *,
        limits: Limits,
        slots: int,
        preload: Sequence[str] = (),
        preload_delay: float = 0.0,
        light: Sequence[str] = (),
    ) -> None:
        self._limits = limits
        self._slots = asyncio.Semaphore(slots)
        self._config = Config(list(functions), list(preload), preload_delay, str(scratch))
        self._light_preload = list(light)
        self._scratch: ScratchRoot | None = None
        self._server: ForkServer | None = None
        self._light: ForkServer | None = None

    @property
    def zygote_pid(self) -> int | None:
        """The fork server's process id, or None while there is none."""
        return self._server.pid if self._server else None

    async def start(self) -> None:
        """Start the fork server, or both; in the main thread."""
        self._scratch = ScratchRoot(Path(self._config.scratch))
        config = replace(self._config, scratch=str(self._scratch.path))
        self._server = ForkServer(config)
        self._server.start()
        if self._light_preload:
            self._light = ForkServer(replace(config, preload=self._light_preload))
            self._light.start()

    async def close(self) -> None:
        """End every child and remove all scratch folders."""
        for server in (self._light, self._server):
            if server is not None:
                await server.close()
        if self._scratch is not None:
            await asyncio.to_thread(self._scratch.remove)
        self._light = self._server = self._scratch = None

    async def ready(self) -> None:
        """Raise `WorldFault(WORKER_LOST)` unless the fork server is up, or both are."""
        if self.zygote_pid is None or (self._light is not None and self._light.pid is None):
            raise WorldFault(Code.WORKER_LOST, "the fork server of the worker processes is not up")

    @asynccontextmanager
    async def run(
        self,
        function: str,
        arguments: dict[str, Any],
        *,
        work: Work,
        preloaded: bool = False,
        light: bool = False,
        limits: Limits | None = None,
        slots: asyncio.Semaphore | None = None,
    ) -> AsyncIterator[Finished]:
        """Run `function` in a fresh child; its outputs live until the block is left.

        `slots` are places of its own for work that must not wait behind long attempts.
        `preloaded` waits for the preload of a fork server that has just started; `light` work
        is done by the light one, where there is one. Raises what
        `verdict` raises, and `StaleFault(CANCELLED)` within a second of a cancel. While the
        child works or waits, `work` makes progress.
        """
        if self._scratch is None:
            raise WorldFault(Code.WORKER_LOST, "the sandbox is not started")
        folder = await asyncio.to_thread(self._scratch.attempt)
        try:
            await asyncio.to_thread(_write_job, folder, arguments)
            slots = slots or self._slots
            await _slot(slots, work)
            server = (self._light if light else None) or self._server
            assert server is not None
            try:
                result = await self._attempt(
                    server, function, folder, work, limits or self._limits, preloaded=preloaded
                )
            finally:
                slots.release()
            yield Finished(result, folder)
        finally:
            await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))

    async def _attempt(
        self,
        server: ForkServer,
        function: str,
        folder: Path,
        work: Work,
        limits: Limits,
        *,
        preloaded: bool,
    ) -> dict[str, Any]:
        run = server.submit(function, folder, limits, preloaded=preloaded)
        try:
            with _child_span(function) as span:
                await self._started(run, work)
                if run.started.done():
                    span.set_attribute("process.pid", run.started.result())
                killed = await self._watch(server, run, folder, work, limits)
                status = await _status(server, run)
                span.set_attribute("process.exit.code", status)
                end = End(status, killed, await asyncio.to_thread(_read_answer, folder))
                _log_end(function, work, end, folder)
                return verdict(end, limits)
        finally:
            if not run.ended.done():
                server.kill(run)
                with suppress(WorldFault):
                    await asyncio.shield(_status(server, run))
            server.forget(run)

    async def _started(self, run: Run, work: Work) -> None:
        give_up = time.monotonic() + START_SECONDS
        while not (run.started.done() or run.ended.done()):
            work.check()
            if time.monotonic() > give_up:
                raise WorldFault(Code.WORKER_LOST, "the fork server did not start a worker process")
            await asyncio.wait(
                {run.started, run.ended}, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED
            )

    async def _watch(
        self, server: ForkServer, run: Run, folder: Path, work: Work, limits: Limits
    ) -> Killed | None:
        """Until the child ends, or must be killed: then why."""
        begun = moved = time.monotonic()
        moves, cpu = 0, 0.0
        while True:
            await asyncio.wait({run.ended}, timeout=POLL_SECONDS)
            if run.ended.done():
                return None
            pid = run.started.result()
            if work.cancelled.is_set():
                work.check()
            usage, now, seen = usage_of(pid), time.monotonic(), _moves(folder)
            if seen > moves:
                moves, moved = seen, now
            if moved == now or usage.cpu_seconds > cpu + CPU_STEP:
                cpu = usage.cpu_seconds
                work.progress()
            killed: Killed | None = None
            if usage.resident > limits.memory_mb * MB:
                killed = "memory"
            elif now - begun > limits.wall_seconds:
                killed = "wall"
            elif now - moved > limits.stall_seconds:
                killed = "stall"
            if killed is not None:
                server.kill(run)
                return killed


@contextmanager
def _child_span(function: str) -> Iterator[Span]:
    """The life of a child, which has no network to tell of it by itself."""
    name = function.rpartition(":")[2]
    with tracer().start_as_current_span(
        f"child {name}",
        attributes={"code.function.name": function.replace(":", ".")},
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield span
        except Exception as error:
            record_error(span, error)
            raise


async def _status(server: ForkServer, run: Run) -> int:
    """The exit status of a child that has ended or was told to, soon."""
    await asyncio.wait({run.ended}, timeout=KILL_SECONDS)
    if not run.ended.done():
        server.shoot()
        return -signal.SIGKILL
    return run.ended.result()


def _write_job(folder: Path, arguments: dict[str, Any]) -> None:
    (folder / "job.json").write_text(json.dumps(arguments))


def _read_answer(folder: Path) -> dict[str, Any] | None:
    try:
        descriptor = os.open(folder / "end.json", os.O_RDONLY | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read(MAX_ANSWER + 1)
        answer = json.loads(data) if len(data) <= MAX_ANSWER else None
    except (OSError, ValueError):
        return None
    return answer if isinstance(answer, dict) else None


def _moves(folder: Path) -> int:
    try:
        return int((folder / "progress").read_text())
    except (OSError, ValueError):
        return 0


def _log_end(function: str, work: Work, end: End, folder: Path) -> None:
    if end.status == 0 and end.answer is not None and "result" in end.answer:
        return
    fault = (end.answer or {}).get("fault", {})
    frames = fault.get("frames", [])
    with suppress(OSError):
        crash = (folder / "crash").read_text("ascii", "replace").splitlines()
        frames = [line.strip() for line in crash if line.lstrip().startswith("File ")][:6] or frames
    log.info(
        "child failed", function=function, job_id=work.job_id, status=end.status,
        killed=end.killed, code=fault.get("code"), frames=frames,
    )  # fmt: skip


async def _slot(slots: asyncio.Semaphore, work: Work) -> None:
    while True:
        work.check()
        with suppress(TimeoutError):
            async with asyncio.timeout(POLL_SECONDS * 5):
                await slots.acquire()
            return
