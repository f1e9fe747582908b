"""The fork server: a small single-threaded process that forks one child per attempt.

It speaks JSON over a SEQPACKET socket, one message a packet. From the service:
`{"run": id, "function", "folder", "limits", "preloaded"}` and `{"kill": id}`; to it:
`{"started": id, "pid"}` and `{"ended": id, "status"}` (negative: the signal). It serves at
once and imports the modules it was told to preload one by one while nothing is asked of it;
a job marked `preloaded` waits until all are there. When the service goes, however that
happens, the socket ends: it kills what runs, removes the scratch folder and exits.
"""

import gc
import json
import os
import selectors
import shutil
import signal
import socket
import sys
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from libs.runtime.sandbox.child import imported, run_child
from libs.runtime.sandbox.limits import Limits, confine
from libs.runtime.sandbox.usage import children_of

PACKET = 1 << 16
REFUSED = 79


@dataclass(frozen=True)
class Config:
    """What a fork server is told when it starts: the functions that jobs may name
    (`module:function`), the modules to preload, `preload_delay` seconds after the start, and
    the folder that dies with it."""

    functions: list[str]
    preload: list[str]
    preload_delay: float
    scratch: str


class Zygote:
    """The loop: fork, kill, reap, preload."""

    def __init__(self, sock: socket.socket, config: Config) -> None:
        self._sock = sock
        self._config = config
        self._functions = frozenset(config.functions)
        self._preload = deque(config.preload)
        self._preload_at = time.monotonic() + config.preload_delay
        self._deferred: deque[dict[str, Any]] = deque()
        self._jobs: dict[int, int] = {}
        self._pid = os.getpid()

    def serve(self) -> None:
        """Until the service is gone."""
        wake, wakeup = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(wakeup, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._sock, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select(self._patience())}
                if wake in ready:
                    os.read(wake, PACKET)
                    self._reap()
                if self._sock.fileno() in ready and not self._hear():
                    return
                if not ready:
                    self._preload_next()

    def end(self) -> None:
        """Kill every descendant."""
        for pid in self._jobs:
            _kill(pid)
        with suppress(ChildProcessError):
            while True:
                self._kill_strays(spare=frozenset())
                os.waitpid(-1, 0)

    def _patience(self) -> float | None:
        if not self._preload:
            return None
        return 0.0 if self._deferred else max(0.0, self._preload_at - time.monotonic())

    def _preload_next(self) -> None:
        if self._preload:
            imported(self._preload.popleft())
            gc.freeze()
        if not self._preload:
            while self._deferred:
                self._fork(self._deferred.popleft())

    def _hear(self) -> bool:
        try:
            data = self._sock.recv(PACKET)
        except ConnectionError:
            return False
        if not data:
            return False
        message = json.loads(data)
        if "kill" in message:
            self._kill(message["kill"])
        elif message.get("preloaded") and self._preload:
            self._deferred.append(message)
        else:
            self._fork(message)
        return True

    def _kill(self, job: int) -> None:
        for waiting in [m for m in self._deferred if m["run"] == job]:
            self._deferred.remove(waiting)
            self._say({"ended": job, "status": -signal.SIGKILL})
        for pid in [p for p, j in self._jobs.items() if j == job]:
            _kill(pid)

    def _fork(self, message: dict[str, Any]) -> None:
        if message["function"] not in self._functions:
            self._say({"ended": message["run"], "status": REFUSED})
            return
        try:
            pid = os.fork()
        except OSError:
            self._say({"ended": message["run"], "status": -signal.SIGKILL})
            return
        if pid == 0:
            self._sock.close()
            folder, limits = Path(message["folder"]), Limits(**message["limits"])
            run_child(message["function"], folder, limits, self._pid)
        self._jobs[pid] = message["run"]
        self._say({"started": message["run"], "pid": pid})

    def _reap(self) -> None:
        """Take note of all that ended; called again for every orphan that was killed here,
        since the kernel's listing of children may miss some while others are ending."""
        ended: dict[int, int] = {}
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    break
                if pid in self._jobs:
                    _kill_group(pid)
                    ended[self._jobs.pop(pid)] = os.waitstatus_to_exitcode(status)
        self._kill_strays(spare=frozenset(self._jobs))
        for job, code in ended.items():
            self._say({"ended": job, "status": code})

    def _kill_strays(self, spare: frozenset[int]) -> None:
        """Kill orphans that came to us: descendants of an ended child, whatever their session,
        except the helpers of running children, which share those children's sessions."""
        for pid in set(children_of(self._pid)) - spare:
            with suppress(ProcessLookupError):
                if os.getsid(pid) not in spare:
                    os.kill(pid, signal.SIGKILL)

    def _say(self, message: dict[str, Any]) -> None:
        with suppress(ConnectionError):
            self._sock.send(json.dumps(message).encode())


def _kill(pid: int) -> None:
    """Kill a child and its group; it may not have made its group yet."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _kill_group(pid)


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def main() -> None:
    """`python -m libs.runtime.sandbox.zygote <socket descriptor> <config as JSON>`."""
    sock = socket.socket(fileno=int(sys.argv[1]))
    sock.set_inheritable(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    confine()
    config = Config(**json.loads(sys.argv[2]))
    zygote = Zygote(sock, config)
    try:
        zygote.serve()
    finally:
        zygote.end()
    shutil.rmtree(config.scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
