"""The service's end of the fork server: start it, talk to it, start it again when it dies."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from libs.contracts.faults import Code, WorldFault
from libs.runtime.sandbox.limits import Limits
from libs.runtime.sandbox.zygote import PACKET, Config
from libs.runtime.telemetry import logger

ROOT = Path(__file__).resolve().parents[3]
KEPT_VARIABLES = frozenset(
    {"PATH", "HOME", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "TESSDATA_PREFIX",
     "DOCLING_ARTIFACTS_PATH"}
)  # fmt: skip
FIXED_VARIABLES = {
    "PYTHONPATH": str(ROOT),
    "PYTHONHASHSEED": "0",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "HF_HUB_OFFLINE": "1",
}
STABLE_SECONDS = 10.0
FIRST_DELAY = 0.5
LONGEST_DELAY = 30.0

log = logger("sandbox")


class Run:
    """One child as the service sees it: `started` holds its pid, `ended` its exit status."""

    def __init__(self, number: int) -> None:
        loop = asyncio.get_running_loop()
        self.number = number
        self.started: asyncio.Future[int] = loop.create_future()
        self.ended: asyncio.Future[int] = loop.create_future()

    def lost(self) -> None:
        """The fork server died, and this child with it."""
        fault = WorldFault(Code.WORKER_LOST, "the fork server of the worker processes died")
        for future in (self.started, self.ended):
            if not future.done():
                future.set_exception(fault)
                future.exception()


class ForkServer:
    """Keeps one zygote process alive, and passes messages both ways.

    Must be started in the main thread: the kernel ends the children of a process with the
    thread that forked it. The zygote gets no secrets: a handful of variables and no
    descriptor but its socket.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._runs: dict[int, Run] = {}
        self._count = 0
        self._process: subprocess.Popen[bytes] | None = None
        self._sock: socket.socket | None = None
        self._started_at = 0.0
        self._delay = 0.0
        self._restart: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The zygote's process id, or None while there is none."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the zygote; it serves within some tens of milliseconds."""
        if self._closed or self._process is not None:
            return
        if self._restart is not None:
            self._restart.cancel()
            self._restart = None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = _popen(theirs, self._config)
        except OSError as error:
            log.warning("fork server cannot be started", error=type(error).__name__)
            ours.close()
            self._restart_later()
            return
        finally:
            theirs.close()
        ours.setblocking(False)
        self._sock = ours
        self._started_at = time.monotonic()
        asyncio.get_running_loop().add_reader(ours.fileno(), self._receive)

    def submit(self, function: str, folder: Path, limits: Limits, *, preloaded: bool) -> Run:
        """Ask for a child over the job in `folder`; `WorldFault` while there is no zygote."""
        self._count += 1
        run = Run(self._count)
        self._runs[run.number] = run
        message = {
            "run": run.number,
            "function": function,
            "folder": str(folder),
            "limits": asdict(limits),
            "preloaded": preloaded,
        }
        try:
            self._send(message)
        except WorldFault:
            del self._runs[run.number]
            raise
        return run

    def kill(self, run: Run) -> None:
        """Kill the child with all its descendants; its `ended` follows within milliseconds."""
        with suppress(WorldFault):
            self._send({"kill": run.number})

    def forget(self, run: Run) -> None:
        """The run is over."""
        self._runs.pop(run.number, None)

    def shoot(self) -> None:
        """Kill the zygote, and thereby its children: it does not do what it is told."""
        if self._process is not None:
            self._process.kill()

    async def close(self) -> None:
        """End the zygote and wait until it has ended its children."""
        self._closed = True
        if self._restart is not None:
            self._restart.cancel()
        process, self._process = self._process, None
        self._disconnect()
        if process is not None:
            await asyncio.to_thread(_reap, process)

    def _send(self, message: dict[str, Any]) -> None:
        try:
            if self._sock is None:
                raise ConnectionError
            self._sock.send(json.dumps(message).encode())
        except OSError:
            raise WorldFault(
                Code.WORKER_LOST, "the fork server of the worker processes is not up", 1.0
            ) from None

    def _receive(self) -> None:
        while self._sock is not None:
            try:
                data = self._sock.recv(PACKET)
            except BlockingIOError:
                return
            except ConnectionError:
                data = b""
            if not data:
                self._lost()
                return
            message = json.loads(data)
            run = self._runs.get(message.get("started", message.get("ended")))
            if run is None:
                continue
            future, value = (
                (run.started, message["pid"])
                if "started" in message
                else (run.ended, message["status"])
            )
            if not future.done():
                future.set_result(value)

    def _lost(self) -> None:
        lived = time.monotonic() - self._started_at
        log.warning("fork server died", lived=round(lived, 1))
        process, self._process = self._process, None
        self._disconnect()
        if process is not None:
            asyncio.get_running_loop().run_in_executor(None, _reap, process)
        if lived > STABLE_SECONDS:
            self._delay = 0.0
        self._restart_later()

    def _restart_later(self) -> None:
        if not self._closed:
            self._restart = asyncio.get_running_loop().call_later(self._delay, self.start)
            self._delay = min(max(FIRST_DELAY, self._delay * 2), LONGEST_DELAY)

    def _disconnect(self) -> None:
        if self._sock is not None:
            asyncio.get_running_loop().remove_reader(self._sock.fileno())
            self._sock.close()
            self._sock = None
        for run in self._runs.values():
            if run.started.done() and not run.ended.done():
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(run.started.result(), 9)
            run.lost()
        self._runs.clear()


def _popen(sock: socket.socket, config: Config) -> subprocess.Popen[bytes]:
    module = "libs.runtime.sandbox.zygote"
    return subprocess.Popen(  # noqa: S603
        [sys.executable, "-P", "-m", module, str(sock.fileno()), json.dumps(asdict(config))],
        pass_fds=[sock.fileno()],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        env=_environment(),
        cwd="/",
        start_new_session=True,
    )


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k in KEPT_VARIABLES or k.startswith("LC_")}
    return {**kept, **FIXED_VARIABLES}


def _reap(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(5.0)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
