"""The life of one child: run a function over a job, leave its answer in a file, end.

An attempt's folder holds `job.json` (from the service), `progress` (how often it moved), `work/`
(scratch), `out/` (outputs) and `end.json`: `{"result": …}` or `{"fault": {kind, code,
detail, frames}}`. An exception that is no `Fault` is judged here:

* `MemoryError` is the exit status `OUT_OF_MEMORY`: too large;
* a file over the limit is too large, a full disk is the world's fault;
* a missing third-party module is `engine_missing`;
* a failed import of our own is a bug, and so are `NameError`, `NotImplementedError` and
  `SyntaxError` where our own code raised them or is their subject;
* anything else: a library stumbled over the file, which is `unreadable`, naming the type.
  Libraries use those three for files as well (lxml's and Pillow's syntax errors).

The text of a foreign exception never leaves the child, since it may quote the document.
"""

import errno
import faulthandler
import json
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from libs.contracts.faults import Code, Fault, WorldFault
from libs.runtime.sandbox.limits import Limits, die_with_parent, restrict

OUT_OF_MEMORY = 77
NO_ANSWER = 78
OUR_PACKAGES = frozenset({"libs", "services"})
OUR_ROOT = Path(__file__).resolve().parents[3]
BUGS = (NameError, NotImplementedError, SyntaxError)
FULL_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.ENFILE})

Function = Callable[[dict[str, Any], "Attempt"], dict[str, Any]]


@dataclass
class Attempt:
    """What a sandboxed function gets beside its arguments."""

    folder: Path
    moves: int = 0

    @property
    def scratch(self) -> Path:
        """A folder for temporary files."""
        return self.folder / "work"

    @property
    def out(self) -> Path:
        """A folder for outputs, which the service reads after the end."""
        return self.folder / "out"

    def progress(self, _pages: int = 1) -> None:
        """Say that the work moves: a page is done, or a step of one."""
        self.moves += 1
        descriptor = os.open(self.folder / "progress", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, b"%d" % self.moves, 0)
        finally:
            os.close(descriptor)


def run_child(function: str, folder: Path, limits: Limits, parent: int) -> NoReturn:
    """Become the child of one attempt: never returns."""
    status = NO_ANSWER
    try:
        os.setsid()
        die_with_parent(parent)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT):
            signal.signal(number, signal.SIG_DFL)
        _silence()
        faulthandler.enable((folder / "crash").open("wb"), all_threads=False)
        restrict(limits)
        _settle(folder / "work")
        status = _work(function, folder)
    except MemoryError:
        status = OUT_OF_MEMORY
    finally:
        os._exit(status)


def _settle(scratch: Path) -> None:
    """Temporary files and caches of any library land in the attempt's folder, and go with it."""
    os.chdir(scratch)
    tempfile.tempdir = str(scratch)
    os.environ |= {"TMPDIR": str(scratch), "HOME": str(scratch)}


def _silence() -> None:
    """Libraries print what they read: nothing of that reaches a log."""
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    os.close(null)


def _work(function: str, folder: Path) -> int:
    try:
        arguments = json.loads((folder / "job.json").read_bytes())
        module, _, name = function.partition(":")
        call: Function = getattr(import_module(module), name)
        answer = {"result": call(arguments, Attempt(folder))}
    except MemoryError:
        return OUT_OF_MEMORY
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of a library in Rust is no Exception
        answer = {"fault": describe(error)}
    with (folder / "end.json").open("w") as file:
        json.dump(answer, file)
    return 0


def describe(error: BaseException) -> dict[str, Any]:
    """`error` as the service is told of it; see the module for the rules."""
    frames = [
        f"{frame.filename.rpartition('site-packages/')[2]}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)[-4:]
    ]
    kind, code, detail = _judge(error)
    return {"kind": kind, "code": str(code), "detail": detail, "frames": frames}


def _judge(error: BaseException) -> tuple[str, Code, str]:
    name = type(error).__name__
    if isinstance(error, Fault):
        return ("world" if isinstance(error, WorldFault) else "document", error.code, error.detail)
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return "document", Code.TOO_LARGE, "reading the file wrote more than is allowed"
    if isinstance(error, OSError) and error.errno in FULL_DISK:
        return "world", Code.STORE_AWAY, f"the scratch folder cannot be written: {name}"
    if isinstance(error, ModuleNotFoundError) and not _ours(error.name):
        detail = f"the Python package that provides {error.name} is not installed"
        return "document", Code.ENGINE_MISSING, detail
    if isinstance(error, ImportError) or (isinstance(error, BUGS) and _of_our_code(error)):
        return "bug", Code.INTERNAL, f"unexpected {name}"
    return "document", Code.UNREADABLE, f"the file could not be read ({name})"


def _of_our_code(error: BaseException) -> bool:
    """Whether the error was raised by a line of ours; a syntax error, whether it lies in one."""
    if isinstance(error, SyntaxError):
        return (error.filename or "").endswith(".py")
    frames = traceback.extract_tb(error.__traceback__)
    place = Path(frames[-1].filename) if frames else OUR_ROOT
    return place.is_relative_to(OUR_ROOT) and "site-packages" not in place.parts


def _ours(module: str | None) -> bool:
    return module is None or module.partition(".")[0] in OUR_PACKAGES


def imported(module: str) -> bool:
    """Import a module ahead of the children that will need it; False when that fails."""
    try:
        import_module(module)
    except Exception as error:
        sys.stderr.write(f"preload of {module} failed: {type(error).__name__}\n")
        return False
    return True
