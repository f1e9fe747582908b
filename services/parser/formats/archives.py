"""Zip containers, checked before a library opens them: bombs, encryption, absurd sizes."""

import zipfile
from dataclasses import replace
from pathlib import Path

from libs.contracts.faults import Code, DocumentFault
from libs.runtime.unlock import unlocked_package
from services.parser.formats.base import ParseInput

MAX_MEMBERS = 50_000
MAX_UNPACKED = 2 << 30
MAX_RATIO = 200
"""Unpacked bytes per packed byte of a whole archive over `RATIO_FLOOR`; text packs 20 to 1."""
RATIO_FLOOR = 64 << 20
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def opened(given: ParseInput) -> ParseInput:
    """The input with its container checked, and unlocked where Excel's own password locks it."""
    package = unlocked_package(given.path)
    if package is not None:
        inside = given.scratch / "package"
        inside.write_bytes(package)
        given = replace(given, path=inside)
    check_archive(given.path)
    return given


def check_archive(path: Path) -> None:
    """Raise `DocumentFault` for a container that is encrypted, broken or built to explode.

    An Office file protected by a password is an OLE container around an encrypted stream.
    """
    with path.open("rb") as file:
        if file.read(8) == _OLE:
            raise DocumentFault(
                Code.ENCRYPTED, "the file is protected by a password; upload it without protection"
            )
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as problem:
        raise DocumentFault(
            Code.UNREADABLE, "the file is damaged: its container cannot be opened"
        ) from problem
    if any(m.flag_bits & 0x1 for m in members):
        raise DocumentFault(
            Code.ENCRYPTED, "the file is protected by a password; upload it without protection"
        )
    unpacked = sum(m.file_size for m in members)
    packed = max(1, path.stat().st_size)
    if len(members) > MAX_MEMBERS or unpacked > MAX_UNPACKED:
        raise DocumentFault(
            Code.TOO_LARGE,
            f"the file unpacks to over {MAX_UNPACKED >> 20} MB or {MAX_MEMBERS} parts; split it",
        )
    if unpacked > RATIO_FLOOR and unpacked > MAX_RATIO * packed:
        raise DocumentFault(Code.HOSTILE, "the file was refused: it unpacks like a zip bomb")
