"""The page on security names files and tests that are there."""

import re

import pytest

from deploy.local.house import ROOT

PAGE = (ROOT / "docs" / "security.md").read_text()
MARKED = re.findall(r"`([^`\n]+)`", PAGE)
SOURCES = ("", "libs/runtime", "libs/runtime/catalog", "libs", "services/gateway", "tests")


@pytest.fixture(scope="module")
def tests() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("*.py"):
        found |= set(re.findall(r"def test_(\w+)", path.read_text()))
    return found


def test_every_test_that_it_names_is_there(tests: set[str]) -> None:
    named = {name for name in MARKED if re.fullmatch(r"[a-z]+(_[a-z0-9]+){2,}", name)}
    assert len(named) > 25
    assert named <= tests, named - tests


def test_every_file_that_it_names_is_there() -> None:
    paths = {name.split(":")[0] for name in MARKED if re.fullmatch(r"[\w/*.-]+/[\w*.: -]+", name)}
    assert len(paths) > 25
    missing = [
        path
        for path in paths
        if not path.startswith("/")
        and not any(any(ROOT.glob(f"{s}/{path}".lstrip("/"))) for s in SOURCES)
    ]
    assert not missing
    files = {name for name in MARKED if re.fullmatch(r"test_\w+\.py", name)}
    assert {name for name in files if not any((ROOT / "tests").rglob(name))} == set()
