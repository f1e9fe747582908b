"""Which document an OLE compound file is (Office 97 to 2003, HWP 5), and whether it is locked."""

from pathlib import Path
from typing import TYPE_CHECKING

from libs.contracts.artefacts.profile import Format
from libs.contracts.faults import Code, DocumentFault

if TYPE_CHECKING:
    from olefile import OleFileIO  # type: ignore[import-untyped]

OLE_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
BIFF_FILEPASS = 0x2F
WORD_ENCRYPTED = 0x0100
PPT_ENCRYPTED_TOKEN = bytes.fromhex("dfc4d1f3")
HWP_LOCKED = 0x02 | 0x10


def ole_format(path: Path) -> Format:
    """The format of the compound file at `path`.

    Raises `DocumentFault`: `UNREADABLE` when it is damaged, `ENCRYPTED`, `UNSUPPORTED`.
    """
    import olefile

    try:
        with olefile.OleFileIO(str(path)) as ole:
            return _format(ole)
    except DocumentFault:
        raise
    except Exception as error:
        raise DocumentFault(
            Code.UNREADABLE, f"the compound file is damaged or truncated ({type(error).__name__})"
        ) from None


def _format(ole: "OleFileIO") -> Format:
    names = {entry[0].lower() for entry in ole.listdir(streams=True, storages=True)}
    if "encryptedpackage" in names:
        raise _locked()
    if "fileheader" in names and names & {"bodytext", "viewtext"} and _is_hwp(ole):
        return "hwp"
    if "worddocument" in names:
        if int.from_bytes(_read(ole, "WordDocument", 12)[10:12], "little") & WORD_ENCRYPTED:
            raise _locked()
        return "doc"
    for stream in ("Workbook", "Book"):
        if stream.lower() in names:
            if _has_file_pass(_read(ole, stream, 4096)):
                raise _locked()
            return "xls"
    if "powerpoint document" in names:
        if "encryptedsummary" in names or PPT_ENCRYPTED_TOKEN in _read(ole, "Current User", 64):
            raise _locked()
        return "ppt"
    if "__properties_version1.0" in names:
        return "msg"
    raise DocumentFault(
        Code.UNSUPPORTED, "the compound file is no document of a kind that is read here"
    )


def _is_hwp(ole: "OleFileIO") -> bool:
    header = _read(ole, "FileHeader", 40)
    if not header.startswith(b"HWP Document File"):
        return False
    if int.from_bytes(header[36:40], "little") & HWP_LOCKED:
        raise _locked()
    return True


def _has_file_pass(stream: bytes) -> bool:
    """Whether the first records of a BIFF stream hold FILEPASS, as those of locked files do."""
    at = 0
    for _ in range(8):
        if at + 4 > len(stream):
            return False
        if int.from_bytes(stream[at : at + 2], "little") == BIFF_FILEPASS:
            return True
        at += 4 + int.from_bytes(stream[at + 2 : at + 4], "little")
    return False


def _read(ole: "OleFileIO", stream: str, size: int) -> bytes:
    if not ole.exists(stream):
        return b""
    with ole.openstream(stream) as opened:
        return bytes(opened.read(size))


def _locked() -> DocumentFault:
    return DocumentFault(
        Code.ENCRYPTED, "the document is protected by a password; send it without one"
    )
