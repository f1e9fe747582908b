"""DOC, PPT and RTF: converted by LibreOffice in a profile of its own, then read as DOCX or PPTX."""

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from libs.contracts.artefacts.rows import Row
from libs.contracts.faults import Code, DocumentFault
from services.parser.formats.base import ParseInput, ShardResult
from services.parser.formats.ppt_diagrams import ppt_diagrams

CONVERT_SECONDS = 180.0
POLL_SECONDS = 1.0
TARGETS = {"doc": "docx", "rtf": "docx", "ppt": "pptx"}
PACKAGES = {"doc": "libreoffice-writer-nogui", "rtf": "libreoffice-writer-nogui",
            "ppt": "libreoffice-impress-nogui"}  # fmt: skip
_WORD_XML = b'<?mso-application progid="Word.Document"'
_RTF = b"{\\rtf"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def parse(given: ParseInput) -> ShardResult:
    """Rows of a legacy office file.

    RTF that LibreOffice cannot read, or finds nothing in, is read here.
    `DocumentFault(ENGINE_MISSING)` names the Debian package where LibreOffice is absent.
    """
    name = given.profile.format
    _check_magic(given.path, name)
    if not _is_rtf(given.path):
        return _converted(given, name)
    from services.parser.formats.rtf import read_rtf

    try:
        return _converted(given, name)
    except DocumentFault as problem:
        if problem.code not in {Code.ENGINE_MISSING, Code.UNREADABLE, Code.NO_CONTENT}:
            raise
        return read_rtf(given)


def _converted(given: ParseInput, name: str) -> ShardResult:
    from services.parser.formats import office

    program = shutil.which("soffice") or shutil.which("libreoffice")
    if program is None:
        raise DocumentFault(
            Code.ENGINE_MISSING,
            f"{name.upper()} files need LibreOffice: apt-get install {PACKAGES[name]}, "
            "or save the file in a current format",
        )
    target = TARGETS[name]
    converted = _convert(given, program, name, target)
    profile = given.profile.model_copy(update={"format": target})
    result = office.parse(replace(given, path=converted, profile=profile))
    rows = list(result.rows)
    if name == "ppt":
        shown = {row.text for row in rows}
        texts = [text for text in ppt_diagrams(given.path) if text not in shown]
        rows += [Row(order=len(rows) + i, kind="paragraph", text=t) for i, t in enumerate(texts)]
    return replace(
        result,
        rows=rows,
        engine=f"libreoffice+{result.engine}",
        versions={**result.versions, "libreoffice": Path(program).name},
    )


def _is_rtf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(1024).lstrip()[:5] == _RTF


def _check_magic(path: Path, name: str) -> None:
    """LibreOffice makes a document of any bytes, so the file's own mark is looked at first."""
    with path.open("rb") as file:
        head = file.read(1024)
    if not head:
        raise DocumentFault(Code.EMPTY, "the file is empty")
    is_rtf = head.lstrip()[:5] == _RTF
    fits = is_rtf if name == "rtf" else head[:8] == _OLE
    if not fits and not (name == "doc" and (is_rtf or _WORD_XML in head)):
        raise DocumentFault(
            Code.UNREADABLE, f"the file is not a {name.upper()} document; check its name"
        )


def _convert(given: ParseInput, program: str, name: str, target: str) -> Path:
    """The converted file. Exit code 0 proves nothing: the output must exist and hold bytes."""
    folder = Path(tempfile.mkdtemp(prefix="convert-", dir=given.scratch))
    source = folder / f"source.{name}"
    shutil.copyfile(given.path, source)
    out = folder / "out"
    command = [
        program,
        f"-env:UserInstallation={(folder / 'profile').as_uri()}",
        "--headless",
        "--norestore",
        "--nolockcheck",
        "--convert-to",
        target,
        "--outdir",
        str(out),
        str(source),
    ]
    environment = {k: v for k, v in os.environ.items() if k in {"PATH", "LANG", "LC_ALL"}}
    process = subprocess.Popen(  # noqa: S603
        command,
        env={**environment, "HOME": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait(given, process)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    made = out / f"source.{target}"
    if not made.is_file() or made.stat().st_size == 0:
        raise DocumentFault(
            Code.UNREADABLE, f"LibreOffice could not load the {name.upper()} file; it is damaged"
        )
    return made


def _wait(given: ParseInput, process: "subprocess.Popen[bytes]") -> None:
    """Wait for the end, saying every second that the work goes on."""
    waited = 0.0
    while waited < CONVERT_SECONDS:
        try:
            process.wait(POLL_SECONDS)
        except subprocess.TimeoutExpired:
            waited += POLL_SECONDS
            given.progress(0)
        else:
            return
    raise DocumentFault(
        Code.TOO_SLOW, f"the conversion took over {CONVERT_SECONDS:.0f} s; save in a current format"
    )
