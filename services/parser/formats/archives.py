"""Zip containers, checked before a library opens them: bombs, encryption, absurd sizes."""

from dataclasses import replace

from libs.contracts.faults import Code, DocumentFault
from libs.runtime.sandbox.archives import ArchiveLimits, check_directory, inspect
from libs.runtime.unlock import unlocked_package
from services.parser.formats.base import ParseInput

SEEN = ArchiveLimits(ratio_floor=64 << 20)
"""For what the profiler has seen whole, and for what is converted here from such a file."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def opened(given: ParseInput) -> ParseInput:
    """The input with its container checked, and unlocked where Excel's own password locks it.

    Raises the `DocumentFault`s of `archives.inspect`. The profiler has seen the whole of a
    document before; what is attached to one is seen here first. An Office file protected by
    a password is an OLE container around an encrypted stream.
    """
    package = unlocked_package(given.path)
    if package is not None:
        inside = given.scratch / "package"
        inside.write_bytes(package)
        given = replace(given, path=inside)
    with given.path.open("rb") as file:
        if file.read(8) == _OLE:
            raise DocumentFault(
                Code.ENCRYPTED, "the file is protected by a password; upload it without protection"
            )
    if given.depth:
        inspect(given.path, ArchiveLimits())
    else:
        check_directory(given.path, SEEN)
    return given
