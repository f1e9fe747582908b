"""Zip containers from strangers: bombs, traps and lies are refused before anyone opens them.

Nothing here trusts a declared size: every member is inflated once, counted, and thrown away.
"""

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from libs.contracts.faults import Code, DocumentFault

MB = 1 << 20
BLOCK = 256 << 10
LOCAL_HEADER = struct.Struct("<4s22xHH")
XML_SUFFIXES = (".xml", ".rels", ".hpf", ".rdf", ".vml")
ENTITY = (b"<!ENTITY", "<!ENTITY".encode("utf-16-le"), "<!ENTITY".encode("utf-16-be"))
MAX_NAME = 1024


@dataclass(frozen=True)
class ArchiveLimits:
    """Bounds of one container, nested ones included; `ratio` counts from `ratio_floor` bytes."""

    entries: int = 20_000
    total: int = 1024 * MB
    ratio: int = 200
    ratio_floor: int = 16 * MB
    depth: int = 3
    nested: int = 256 * MB


@dataclass
class _Spent:
    limits: ArchiveLimits
    entries: int = 0
    total: int = 0
    names: list[str] = field(default_factory=list)


def inspect(path: Path, limits: ArchiveLimits) -> list[str]:
    """The member names of the zip at `path`, once the whole of it is known to be harmless.

    Raises `DocumentFault`: `UNREADABLE` for a damaged or truncated container, `ENCRYPTED`
    for encrypted members, `TOO_LARGE` for an honest but huge one, and `HOSTILE` for names
    that leave their folder, links, overlapping members, sizes that lie, absurd compression,
    XML entities, and containers nested deeper than any office file.
    """
    spent = _Spent(limits)
    with path.open("rb") as file:
        _inspect(file, spent, depth=1)
    return spent.names


def check_directory(path: Path, limits: ArchiveLimits) -> None:
    """Raise what `inspect` raises about the directory of the zip at `path` alone.

    Nothing is inflated: it is for a container that `inspect` has seen whole before.
    """
    with path.open("rb") as file:
        _directory(file, _Spent(limits), depth=1)


def _inspect(file: IO[bytes], spent: _Spent, depth: int) -> None:
    if depth > spent.limits.depth:
        raise _hostile(f"archives are nested more than {spent.limits.depth} deep")
    for member in _directory(file, spent, depth):
        _check_content(file, member, spent, depth)


def _directory(file: IO[bytes], spent: _Spent, depth: int) -> list[zipfile.ZipInfo]:
    """The members in the order of their bytes, once nothing that they declare is wrong."""
    try:
        with zipfile.ZipFile(file) as archive:
            members = sorted(archive.infolist(), key=lambda m: m.header_offset)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error):
        raise DocumentFault(
            Code.UNREADABLE, "the archive's directory cannot be read: damaged or truncated"
        ) from None
    spent.entries += len(members)
    if spent.entries > spent.limits.entries:
        raise _hostile(f"it holds over {spent.limits.entries} members")
    end = 0
    for member in members:
        _check_name(member)
        if member.header_offset < end:
            raise _hostile("its members overlap")
        end = member.header_offset + 30 + member.compress_size
        if member.flag_bits & 0x1:
            raise DocumentFault(
                Code.ENCRYPTED, "the archive is encrypted; send it without a password"
            )
        _check_ratio(member, member.file_size, spent.limits)
        if depth == 1:
            spent.names.append(member.filename)
    return members


def _check_name(member: zipfile.ZipInfo) -> None:
    name = member.orig_filename
    parts = name.replace("\\", "/").split("/")
    rooted = name.startswith(("/", "\\")) or (len(name) > 1 and name[1] == ":")
    if rooted or ".." in parts or "\x00" in name or len(name) > MAX_NAME:
        raise _hostile("a member's name points outside the archive")
    if stat.S_ISLNK(member.external_attr >> 16):
        raise _hostile("a member is a link")


def _check_ratio(member: zipfile.ZipInfo, size: int, limits: ArchiveLimits) -> None:
    if size > limits.ratio_floor and size > max(member.compress_size, 1) * limits.ratio:
        raise _hostile(f"a member is compressed over {limits.ratio} times")


def _check_content(file: IO[bytes], member: zipfile.ZipInfo, spent: _Spent, depth: int) -> None:
    limits = spent.limits
    is_xml = member.filename.lower().endswith(XML_SUFFIXES)
    nested: io.BytesIO | None = None
    size, tail = 0, b""
    for block in _inflated(file, member):
        if size == 0 and block.startswith(b"PK\x03\x04"):
            nested = io.BytesIO()
        size += len(block)
        spent.total += len(block)
        if size > member.file_size:
            raise _hostile("a member is larger than it declares")
        _check_ratio(member, size, limits)
        if spent.total > limits.total:
            raise DocumentFault(
                Code.TOO_LARGE, f"the archive holds over {limits.total // MB} MB; split the file"
            )
        if is_xml:
            window = tail + block
            if any(mark in window for mark in ENTITY):
                raise _hostile("its XML declares entities")
            tail = block[-16:]
        if nested is not None:
            nested.write(block)
            if size > limits.nested:
                raise DocumentFault(
                    Code.TOO_LARGE, f"an archive inside it is over {limits.nested // MB} MB"
                )
    if size != member.file_size:
        raise DocumentFault(Code.UNREADABLE, "a member of the archive is damaged or truncated")
    if nested is not None and zipfile.is_zipfile(nested):
        _inspect(nested, spent, depth + 1)


def _inflated(file: IO[bytes], member: zipfile.ZipInfo) -> Iterator[bytes]:
    """The member's content in blocks, whatever its directory entry says of its size."""
    damaged = DocumentFault(Code.UNREADABLE, "a member of the archive is damaged or truncated")
    file.seek(member.header_offset)
    header = file.read(30)
    if len(header) < 30 or header[:4] != b"PK\x03\x04":
        raise damaged
    _, name, extra = LOCAL_HEADER.unpack(header)
    file.seek(name + extra, 1)
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise DocumentFault(
            Code.UNREADABLE, f"the archive uses compression method {member.compress_type}"
        )
    inflate = zlib.decompressobj(-15) if member.compress_type == zipfile.ZIP_DEFLATED else None
    left = member.compress_size
    while left > 0:
        raw = file.read(min(left, BLOCK))
        if not raw:
            raise damaged
        left -= len(raw)
        if inflate is None:
            yield raw
            continue
        try:
            while raw:
                yield inflate.decompress(raw, BLOCK)
                raw = inflate.unconsumed_tail
        except zlib.error:
            raise damaged from None
    if inflate is not None:
        if rest := inflate.flush():
            yield rest
        if not inflate.eof:
            raise damaged


def _hostile(why: str) -> DocumentFault:
    return DocumentFault(Code.HOSTILE, f"the archive is refused: {why}")
