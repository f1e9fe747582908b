"""What a child may use, and how the kernel is told."""

import ctypes
import os
import resource
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MB = 1 << 20
SPACE = 4
"""Address space a child may map, as a multiple of the memory it may use: room for the stacks,
arenas and heaps that threads, LibreOffice and a JVM reserve."""


@dataclass(frozen=True)
class Limits:
    """Bounds of one attempt.

    `wall_seconds` from its fork to its end; `stall_seconds` without any progress said;
    `cpu_seconds` over all its threads; `memory_mb` resident, of it and its descendants,
    pages shared with the fork server included; `file_mb` for any one file it writes.
    """

    wall_seconds: float = 900.0
    stall_seconds: float = 120.0
    cpu_seconds: int = 1800
    memory_mb: int = 1024
    file_mb: int = 1024
    open_files: int = 256


_LIBC = ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def die_with_parent(parent: int) -> None:
    """Be killed when the parent dies; exits at once if it already has."""
    _prctl(PR_SET_PDEATHSIG, 9)
    if os.getppid() != parent:
        os._exit(1)


def confine() -> None:
    """Bind this process and all it will ever fork: no new privileges, no core files, no network.

    Orphaned descendants become its children, so that it can end them. Losing the network
    is best effort: where the kernel grants no namespace, children keep it.
    """
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    _prctl(PR_SET_CHILD_SUBREAPER, 1)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)
    uid, gid = os.getuid(), os.getgid()
    if _LIBC.unshare(CLONE_NEWNET) == 0 or _LIBC.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return
    for name, line in (
        ("setgroups", "deny"),
        ("uid_map", f"{uid} {uid} 1"),
        ("gid_map", f"{gid} {gid} 1"),
    ):
        with suppress(OSError):
            Path(f"/proc/self/{name}").write_text(line)


def _lower(kind: int, value: int, grace: int = 0) -> None:
    """Bound `kind` by `value`; the hard limit lies `grace` higher."""
    hard = resource.getrlimit(kind)[1]
    ceiling = value + grace if hard == resource.RLIM_INFINITY else min(value + grace, hard)
    resource.setrlimit(kind, (min(value, ceiling), ceiling))


def restrict(limits: Limits) -> None:
    """Apply the limits that the kernel keeps to this process, for ever.

    Two limits stand behind the watchdog on resident memory, so that nothing can outrun it,
    also while it cannot look: private memory (`RLIMIT_DATA`) and all address space
    (`RLIMIT_AS`), which bounds shared memory too. Libraries reserve address space that they
    never touch, so both start from what is mapped now and the second is `SPACE` times wider.
    At the soft limit of processor time comes SIGXCPU, which tells more than a SIGKILL.
    The kernel is asked, not told, to choose this process first when memory runs out.
    """
    _lower(resource.RLIMIT_CPU, limits.cpu_seconds, grace=5)
    _lower(resource.RLIMIT_FSIZE, limits.file_mb * MB)
    _lower(resource.RLIMIT_NOFILE, limits.open_files)
    mapped, data = _mapped()
    _lower(resource.RLIMIT_DATA, data + limits.memory_mb * MB)
    _lower(resource.RLIMIT_AS, mapped + SPACE * limits.memory_mb * MB)
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _mapped() -> tuple[int, int]:
    """Bytes of address space that this process has mapped, and of data among them."""
    fields = Path("/proc/self/statm").read_text().split()
    page = resource.getpagesize()
    return int(fields[0]) * page, int(fields[5]) * page
