"""`docs/licences.md`: what every pinned package says of its licence."""

import re
from importlib import metadata
from pathlib import Path

TARGET = Path("docs/licences.md")

_HEAD = """# Licences of the packages that are installed beside Groundwire

Written from the packages' own metadata by `make fix`. Nothing of them is copied into this
repository. A package under the GPL or AGPL would be marked **copyleft**, and `make check`
fails on it.

| package | version | licence |
| --- | --- | --- |
"""
_ROW = re.compile(r"^\| (\S+) \| (\S+) \| (.*) \|$", re.MULTILINE)
_COPYLEFT = re.compile(r"(?<!L)\b(AGPL|GPL)|Affero|(?<!Lesser )General Public", re.IGNORECASE)


def pins(root: Path) -> dict[str, str]:
    """Name and version of every pinned package."""
    lines = (root / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==", 1) for line in lines if "==" in line)


def _licence(name: str, version: str) -> str | None:
    """What the installed package says; None when it is not installed in this version."""
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if about["Version"] != version:
        return None
    classified = [
        text.rsplit(" :: ", 1)[-1]
        for text in about.get_all("Classifier") or []
        if text.startswith("License :: ") and not text.endswith("OSI Approved")
    ]
    fields = about.get_all("License-Expression") or about.get_all("License") or [""]
    stated = fields[0].strip()
    if not stated or "\n" in stated:
        stated = ", ".join(classified)
    return stated or "not stated"


def licences(root: Path) -> dict[str, tuple[str, str]]:
    """Version and licence of every pin; one that is not installed keeps what is written."""
    try:
        written = (root / TARGET).read_text(encoding="utf-8")
    except FileNotFoundError:
        written = ""
    known = {(m[1], m[2]): m[3] for m in _ROW.finditer(written)}
    return {
        name: (version, _licence(name, version) or known.get((name, version), "not stated"))
        for name, version in pins(root).items()
    }


def copyleft(root: Path) -> list[str]:
    """Pinned packages under the GPL or AGPL."""
    return [
        f"{name} is under {licence}, which cannot be shipped with this project"
        for name, (_, licence) in licences(root).items()
        if _COPYLEFT.search(licence)
    ]


def render(root: Path) -> dict[Path, str]:
    """The table."""
    rows = (
        f"| {name} | {version} | {licence}{' **copyleft**' * bool(_COPYLEFT.search(licence))} |\n"
        for name, (version, licence) in licences(root).items()
    )
    return {TARGET: _HEAD + "".join(rows)}
