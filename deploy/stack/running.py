"""A server that runs: started, watched until it answers, paused, killed and stopped."""

import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from deploy.local.logs import last_lines, rotate
from deploy.local.ports import LOOPBACK, free_ports, obstacle
from deploy.local.process import children_of

_POLL_SECONDS = 0.05
_KILL_SECONDS = 10.0


class StartFailed(Exception):
    """A server cannot be provisioned or does not come up; the message says why."""


@dataclass
class Running:
    """A server's process, and how to reach it.

    `settings` are environment variables that make the services use it, secrets included;
    `addresses` are further URLs, such as that of an API to ask.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path
    settings: dict[str, str] = field(default_factory=dict)
    addresses: dict[str, str] = field(default_factory=dict)
    stop_signal: signal.Signals = signal.SIGTERM
    stop_seconds: float = 30.0

    @property
    def pid(self) -> int:
        """The process of the server itself, not of what it was started through."""
        return self.process.pid

    @property
    def alive(self) -> bool:
        """Whether it has not ended; paused counts as alive."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End it in its own clean way, and by force after `stop_seconds`."""
        if self.alive:
            self.resume()
            self._send([self.pid], self.stop_signal)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(self.stop_seconds)
        self.kill()

    def kill(self) -> None:
        """End it at once, children included, as a power loss of the server would."""
        if self.alive:
            self._send(tree_of(self.pid), signal.SIGKILL)
            self.process.wait(_KILL_SECONDS)

    def pause(self) -> None:
        """Stop its clock: connections stay open, and nothing answers."""
        self._send(tree_of(self.pid), signal.SIGSTOP)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._send(tree_of(self.pid), signal.SIGCONT)

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Wait until `ready`, else kill it and raise `StartFailed` with the end of its log."""
        deadline = time.monotonic() + seconds
        try:
            while not ready():
                if not self.alive:
                    raise StartFailed(self._why(f"ended with code {self.process.returncode}"))
                if time.monotonic() > deadline:
                    raise StartFailed(self._why(f"did not answer within {seconds:g} s"))
                time.sleep(_POLL_SECONDS)
        except BaseException:
            self.kill()
            raise

    def _why(self, what: str) -> str:
        end = "\n".join(f"  {line}" for line in last_lines(self.log))
        return f"{self.name} {what}; the end of {self.log} says:\n{end or '  (nothing)'}"

    @staticmethod
    def _send(pids: Iterable[int], number: signal.Signals) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


def launch(
    name: str,
    command: Sequence[str],
    data: Path,
    *,
    user: str | None = None,
    environment: Mapping[str, str] | None = None,
    death_signal: signal.Signals = signal.SIGKILL,
    stop_signal: signal.Signals = signal.SIGTERM,
    stop_seconds: float = 30.0,
) -> Running:
    """Start `command` in the folder `data`, its output in `data/server.log`.

    `user` is whose rights it runs with when this process is root. Where the system can,
    `death_signal` reaches it when the calling thread ends, however that ends.
    """
    log = data / "server.log"
    rotate(log)
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*_wrapper(user, death_signal), *command],
            cwd=data,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return Running(name, process, log, stop_signal=stop_signal, stop_seconds=stop_seconds)


def as_user(user: str | None) -> list[str]:
    """The words before a command that give it the rights of `user`, where this is root."""
    if user is None or os.geteuid() != 0:
        return []
    group = str(pwd.getpwnam(user).pw_gid)
    return ["setpriv", "--reuid", user, "--regid", group, "--init-groups", "--"]


def _wrapper(user: str | None, death_signal: signal.Signals) -> list[str]:
    if shutil.which("setpriv") is None:
        return []
    words = as_user(user) or ["setpriv", "--"]
    return [*words[:-1], "--pdeathsig", death_signal.name.removeprefix("SIG"), "--"]


def tree_of(pid: int) -> list[int]:
    """A process and all below it, parents first."""
    found = [pid]
    for parent in found:
        found.extend(children_of(parent))
    return found


def noted_ports(data: Path, *names: str) -> dict[str, int]:
    """A free loopback port for each name: those of the last start over `data`, else new ones."""
    note = data / "ports.json"
    with contextlib.suppress(OSError, ValueError):
        known = json.loads(note.read_text())
        ports = {name: int(known[name]) for name in names if name in known}
        if len(ports) == len(names) and not any(obstacle(LOOPBACK, p) for p in ports.values()):
            return ports
    ports = dict(zip(names, free_ports(len(names)), strict=True))
    data.mkdir(parents=True, exist_ok=True)
    note.write_text(json.dumps(ports))
    return ports
