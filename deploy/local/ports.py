"""Ports of this machine: is one free, and who holds it."""

import contextlib
import errno
import secrets
import socket
from pathlib import Path

LOOPBACK = "127.0.0.1"
_LISTENING = "0A"
_TO_CHOOSE_FROM = range(10_000, 32_768)
_TRIES = 200


def obstacle(host: str, port: int) -> str | None:
    """Why no server could listen there now, in a sentence; None when one could."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                return _taken(port)
            return f"nothing can listen on {host}:{port}: {error.strerror or error}"
    return None


def free_port(host: str = LOOPBACK) -> int:
    """A port that nobody listens on at this moment, as `free_ports`."""
    return free_ports(1, host)[0]


def free_ports(count: int, host: str = LOOPBACK) -> list[int]:
    """So many different ports that nobody listens on at this moment.

    They lie below the range from which the kernel serves outgoing connections: a port of
    that range may be taken by any connection before the server for which it was chosen has
    started. Where no such port is free, the kernel chooses.
    """
    kernel = _served_by_kernel()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports: list[int] = []
    with contextlib.ExitStack() as held:
        for tried in range(_TRIES + count):
            if len(ports) == count:
                break
            port = secrets.choice(_TO_CHOOSE_FROM) if tried < _TRIES else 0
            if port in kernel:
                continue
            probe = held.enter_context(socket.socket(family, socket.SOCK_STREAM))
            with contextlib.suppress(OSError):
                probe.bind((host, port))
                ports.append(int(probe.getsockname()[1]))
    if len(ports) < count:
        raise OSError(errno.EADDRINUSE, f"no free port on {host}")
    return ports


def _served_by_kernel() -> range:
    """The ports that outgoing connections get (Linux; elsewhere its usual range)."""
    try:
        text = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text()
        low, high = (int(word) for word in text.split())
    except (OSError, ValueError):
        low, high = 32_768, 60_999
    return range(low, high + 1)


def answers(host: str, port: int, seconds: float = 0.2) -> bool:
    """Whether somebody accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout=seconds):
            return True
    except OSError:
        return False


def command_line(pid: int) -> str:
    """How a process was called, shortened; empty when it is gone or not ours to see."""
    with contextlib.suppress(OSError):
        raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        return raw.replace(b"\0", b" ").decode("utf-8", "replace").strip()[:200]
    return ""


def forked_from(pid: int) -> int:
    """The outermost process of the same command line: not a forked service, its supervisor."""
    called = command_line(pid)
    while called:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            break
        parent = int(fields[1])
        if command_line(parent) != called:
            break
        pid = parent
    return pid


def holder_of(port: int) -> int | None:
    """The process that listens on a port, as far as this user may see it."""
    sockets = {f"socket:[{inode}]" for inode in _listening_inodes(port)}
    if not sockets:
        return None
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        with contextlib.suppress(OSError):
            for handle in (folder / "fd").iterdir():
                with contextlib.suppress(OSError):
                    if str(handle.readlink()) in sockets:
                        return int(folder.name)
    return None


def _listening_inodes(port: int) -> set[str]:
    inodes = set()
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
                fields = line.split()
                local_port = int(fields[1].rpartition(":")[2], 16)
                if local_port == port and fields[3] == _LISTENING:
                    inodes.add(fields[9])
    return inodes


def _taken(port: int) -> str:
    """The sentence for a port that is not free: who holds it, and the way out."""
    holder = holder_of(port)
    pid = None if holder is None else forked_from(holder)
    who = (
        f"process {pid} ({command_line(pid)})"
        if pid is not None
        else "a process that this user cannot see"
    )
    return (
        f"port {port} is held by {who}; "
        f"stop it, or choose another port: GROUNDWIRE_HTTP_PORT={port + 1} make run"
    )
