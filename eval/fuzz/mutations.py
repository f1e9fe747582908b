"""Ways to damage a file. Each takes its bytes, another file of the format, and a seeded source
of chance, and gives other bytes; equal seeds give equal files."""

import random
import re
import zipfile
from collections.abc import Callable
from io import BytesIO

Mutation = Callable[[bytes, bytes, random.Random], bytes]

MAX_MEMBERS = 400
_REFERENCE = re.compile(rb"\b\d{1,6} 0 R\b")
_NUMBER = re.compile(rb"\b\d{1,9}\b")
_TAG = re.compile(rb"<[A-Za-z][\w:]*[^<>]*>")
_ODD_NUMBERS = (b"0", b"-1", b"2147483648", b"4294967295", b"99999999999", b"1e308", b"")
_ENTITIES = b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">' + b"".join(
    b'<!ENTITY %c "%s">' % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(9)
) + b"]>"  # fmt: skip
_XML_HEAD = re.compile(rb"^\s*(?:<\?xml[^>]*\?>)?")


def flip(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """Some bytes become others."""
    out = bytearray(data)
    for _round in range(min(len(out), 1 << chance.randrange(8))):
        out[chance.randrange(len(out))] = chance.randrange(256)
    return bytes(out)


def truncate(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """The end is missing."""
    return data[: chance.randrange(1, max(2, len(data)))]


def cut(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """A piece in the middle is missing."""
    start = chance.randrange(len(data))
    return data[:start] + data[start + chance.randrange(1, 4096) :]


def repeat(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """A piece stands many times."""
    start = chance.randrange(len(data))
    piece = data[start : start + chance.randrange(1, 512)]
    return data[:start] + piece * chance.choice((2, 50, 2000)) + data[start:]


def splice(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """The head of one file and the tail of another."""
    return data[: chance.randrange(1, len(data) + 1)] + other[chance.randrange(len(other)) :]


def numbers(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """Some written numbers (lengths, offsets, counts, sizes) become absurd."""
    return _replaced(data, _NUMBER, lambda found: chance.choice(_ODD_NUMBERS), chance)


def references(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """Objects of a PDF refer to others, to themselves and to their parents."""
    known = _REFERENCE.findall(data) or [b"1 0 R"]
    return _replaced(data, _REFERENCE, lambda found: chance.choice(known), chance)


def nest(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """Thousands of tags, brackets or dictionaries inside each other."""
    opening = chance.choice((b"<div>", b"[", b"<<", b"{\\b", b"> ", b"<table><tr><td>", b"("))
    start = chance.randrange(len(data))
    return data[:start] + opening * chance.choice((100, 20_000)) + data[start:]


def swap_members(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """Members of a container change places, or come from another one."""
    members, foreign = _members(data), _members(other)
    names = [name for name in members if not name.endswith("/")]
    if len(names) > 1:
        for _round in range(chance.randrange(1, 4)):
            first, second = chance.sample(names, 2)
            members[first], members[second] = members[second], members[first]
    for name in chance.sample(sorted(foreign), min(2, len(foreign))):
        members[name] = foreign[name]
    return _zipped(members)


def damage_member(data: bytes, other: bytes, chance: random.Random) -> bytes:
    """One member of a sound container is damaged."""
    how = chance.choice((flip, truncate, cut, repeat, numbers, nest))
    return _with_member(data, chance, lambda content: how(content, other, chance), ".")


def entities(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """An XML part declares entities that grow ten times with every step, and uses one."""

    return _with_member(data, chance, _bomb, ".xml")


def entities_of_text(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """The same in a file that is one XML text."""
    return _bomb(data)


def _bomb(content: bytes) -> bytes:
    return _XML_HEAD.sub(lambda m: m[0] + _ENTITIES, content, count=1).replace(b"</", b"&j;</", 1)


def attributes(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """A tag with very many attributes, or one of a megabyte."""
    count = chance.choice((20_000, 1))
    more = b"".join(b' a%d="%s"' % (i, b"x" * (1 if count > 1 else 1 << 20)) for i in range(count))

    def load(content: bytes) -> bytes:
        tags = list(_TAG.finditer(content))
        if not tags:
            return content
        at = chance.choice(tags).end() - 1
        at -= content[at - 1 : at] == b"/"
        return content[:at] + more + content[at:]

    return _with_member(data, chance, load, ".xml")


def huge_sheet(data: bytes, _: bytes, chance: random.Random) -> bytes:
    """Cells at the far end of a sheet, spans and repeats of a million."""
    far = chance.choice((b"XFD1048576", b"ZZZZ99999999", b"A1048576"))

    def spread(content: bytes) -> bytes:
        content = re.sub(rb'(<dimension ref=")[^"]*', rb"\g<1>A1:" + far, content)
        content = re.sub(rb'(<c r=")[^"]*', rb"\g<1>" + far, content, count=1)
        content = re.sub(rb'(<mergeCell ref=")[^"]*', rb"\g<1>A1:" + far, content)
        return re.sub(
            rb'(number-(?:columns|rows)-(?:repeated|spanned)=")\d+', rb"\g<1>1048576", content
        )

    return _with_member(data, chance, spread, "sheet" if b"worksheets" in data else "content")


BYTES: tuple[Mutation, ...] = (flip, truncate, cut, repeat, splice, numbers, nest)
CONTAINERS: tuple[Mutation, ...] = (
    flip, truncate, splice, swap_members, damage_member, damage_member, entities, attributes,
    huge_sheet,
)  # fmt: skip


def mutations_of(suffix: str, data: bytes) -> tuple[Mutation, ...]:
    """The ways that fit a file."""
    if data[:2] == b"PK":
        return CONTAINERS
    if data.lstrip()[:5] == b"<?xml":
        return (*BYTES, entities_of_text)
    return (*BYTES, references, references) if suffix == "pdf" else BYTES


def _replaced(
    data: bytes, what: "re.Pattern[bytes]", by: Callable[[bytes], bytes], chance: random.Random
) -> bytes:
    share = chance.choice((0.01, 0.1, 0.5))
    return what.sub(lambda m: by(m[0]) if chance.random() < share else m[0], data)


def _members(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            return {m.filename: archive.read(m) for m in archive.infolist()[:MAX_MEMBERS]}
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError):
        return {}


def _zipped(members: dict[str, bytes]) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(zipfile.ZipInfo(name, (2000, 1, 1, 0, 0, 0)), content)
    return out.getvalue()


def _with_member(
    data: bytes, chance: random.Random, change: Callable[[bytes], bytes], fits: str
) -> bytes:
    """The container with one member changed whose name holds `fits`."""
    members = _members(data)
    names = [name for name, content in members.items() if fits in name and content]
    if names:
        name = chance.choice(names)
        members[name] = change(members[name])
    return _zipped(members)
