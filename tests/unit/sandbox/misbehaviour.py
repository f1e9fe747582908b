"""What children of the sandbox tests do: each a `module:function` that a job may name."""

import codecs
import ctypes
import mmap
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

from lxml import etree

from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.child import Attempt

HERE = "tests.unit.sandbox.misbehaviour"
Arguments = dict[str, Any]


def write_pid(arguments: Arguments, name: str = "child") -> None:
    target = Path(arguments["pids"]) / f"{name}-{os.getpid()}"
    target.touch()


def echo(arguments: Arguments, attempt: Attempt) -> Arguments:
    (attempt.out / "rows").mkdir()
    (attempt.out / "rows" / "0").write_text(arguments["say"])
    attempt.progress()
    return {"said": arguments["say"], "pid": os.getpid()}


def spin(arguments: Arguments, attempt: Attempt) -> Arguments:
    write_pid(arguments)
    while True:
        pass


def turn_pages(arguments: Arguments, attempt: Attempt) -> Arguments:
    for _ in range(arguments["pages"]):
        attempt.progress(0)
        time.sleep(0.15)
    return {"moves": attempt.moves}


def hang(arguments: Arguments, attempt: Attempt) -> Arguments:
    write_pid(arguments)
    wait_for_ever()


def wait_for_ever() -> NoReturn:
    while True:
        signal.pause()


def eat_memory(arguments: Arguments, attempt: Attempt) -> Arguments:
    eaten = []
    while True:
        eaten.append(b"x" * (1 << 20))


def eat_shared_memory(arguments: Arguments, attempt: Attempt) -> Arguments:
    """All that the kernel gives at once: only the process's own limit can stop this."""
    eaten = []
    try:
        while True:
            eaten.append(mmap.mmap(-1, 64 << 20))
    except OSError:
        return {"mapped_mb": 64 * len(eaten)}


def ask_for_the_moon(arguments: Arguments, attempt: Attempt) -> Arguments:
    return {"length": len(bytearray(64 << 30))}


def fork_and_eat(arguments: Arguments, attempt: Attempt) -> Arguments:
    if os.fork() == 0:
        write_pid(arguments, "grandchild")
        try:
            eat_memory(arguments, attempt)
        except MemoryError:
            wait_for_ever()
    os.wait()
    return {}


def fork_family(arguments: Arguments, attempt: Attempt) -> Arguments:
    """Grandchildren that stay: one in our group, one in a session of its own, one orphaned."""
    write_pid(arguments)
    for escape in (False, True):
        if os.fork() == 0:
            if escape:
                os.setsid()
            write_pid(arguments, "grandchild")
            wait_for_ever()
    if os.fork() == 0:
        if os.fork() == 0:
            os.setsid()
            write_pid(arguments, "orphan")
            wait_for_ever()
        os._exit(0)
    if arguments.get("stay", True):
        wait_for_ever()
    while sum(1 for _ in Path(arguments["pids"]).iterdir()) < 4:
        time.sleep(0.01)
    return {}


def crash(arguments: Arguments, attempt: Attempt) -> Arguments:
    ctypes.string_at(0)
    return {}


def abort(arguments: Arguments, attempt: Attempt) -> Arguments:
    os.abort()


def die_by_sigkill(arguments: Arguments, attempt: Attempt) -> Arguments:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def write_too_much(arguments: Arguments, attempt: Attempt) -> Arguments:
    with (attempt.out / "big").open("wb") as file:
        for _ in range(64):
            file.write(bytes(1 << 20))
    return {}


def refuse(arguments: Arguments, attempt: Attempt) -> Arguments:
    raise DocumentFault(Code.ENCRYPTED, "the file is encrypted")


def stumble(arguments: Arguments, attempt: Attempt) -> Arguments:
    raise ValueError("the secret sentence of the document")


def have_a_bug(arguments: Arguments, attempt: Attempt) -> Arguments:
    return {"x": undefined_name}  # type: ignore[name-defined]  # noqa: F821


def leave_a_gap(arguments: Arguments, attempt: Attempt) -> Arguments:
    raise NotImplementedError


def stumble_over_xml(arguments: Arguments, attempt: Attempt) -> Arguments:
    return {"x": etree.fromstring(b"<secret>").tag}


def stumble_in_a_library(arguments: Arguments, attempt: Attempt) -> Arguments:
    return {"x": codecs.Codec().encode("secret")}


class Panic(BaseException):
    """As pyo3's PanicException."""


def panic(arguments: Arguments, attempt: Attempt) -> Arguments:
    raise Panic("secret")


def miss_a_package(arguments: Arguments, attempt: Attempt) -> Arguments:
    import no_such_engine  # type: ignore[import-not-found]

    return {"x": no_such_engine}


def leave_a_link(arguments: Arguments, attempt: Attempt) -> Arguments:
    (attempt.out / "rows").symlink_to("/etc")
    (attempt.out / "file").symlink_to("/etc/passwd")
    return {}


def print_everything(arguments: Arguments, attempt: Attempt) -> Arguments:
    sys.stdout.write("the secret sentence of the document")
    sys.stdout.flush()
    subprocess.run(["/bin/sh", "-c", "echo secret >&2"], check=True)
    return {}


def look_around(arguments: Arguments, attempt: Attempt) -> Arguments:
    try:
        socket.create_connection(("127.0.0.1", arguments["port"]), 0.5).close()
        network = True
    except OSError:
        network = False
    return {
        "environment": dict(os.environ),
        "network": network,
        "no_new_privs": "NoNewPrivs:\t1" in Path("/proc/self/status").read_text(),
        "places": [str(Path.cwd()), tempfile.mkdtemp(), str(Path.home())],
        "oom": Path("/proc/self/oom_score_adj").read_text().strip(),
    }


FUNCTIONS = [
    f"{HERE}:{f.__name__}"
    for f in (
        echo, spin, turn_pages, hang, eat_memory, eat_shared_memory, ask_for_the_moon,
        fork_and_eat, fork_family, crash, abort, die_by_sigkill, write_too_much, refuse,
        stumble, stumble_over_xml, stumble_in_a_library, panic, have_a_bug, leave_a_gap,
        miss_a_package, leave_a_link, print_everything, look_around,
    )
]  # fmt: skip
