"""The house rules: the repository keeps them, and a breach is noticed."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from deploy.local import house
from deploy.local.generated.licences import copyleft
from deploy.local.house import ROOT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree that keeps every rule."""
    (tmp_path / "services" / "parser" / "http").mkdir(parents=True)
    (tmp_path / "libs").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "Makefile").write_text("all:\n" * 120)
    (tmp_path / "constraints.txt").write_text("httpx==0.28.1\n# a note\n")
    (tmp_path / "services" / "parser" / "app.py").write_text("x = 1\n" * 40)
    (tmp_path / "services" / "parser" / "http" / "app.py").write_text("x = 1\n" * 300)
    (tmp_path / "libs" / "long.py").write_text("x = 1\n" * 300)
    return tmp_path


def test_the_repository_keeps_its_rules() -> None:
    assert house.breaches() == []


def test_a_tree_at_the_limits_keeps_them(tree: Path) -> None:
    assert house.breaches(tree) == []


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("libs/long.py", "x = 1\n" * 301, "libs/long.py has 301 lines"),
        ("services/parser/app.py", "x = 1\n" * 41, "services/parser/app.py has 41 lines"),
        ("Makefile", "all:\n" * 121, "Makefile has 121 lines"),
        ("constraints.txt", "httpx>=0.28\n", "constraints.txt:1 is not an exact pin"),
        ("constraints.txt", "httpx==1 @ https://example.org/x\n", "constraints.txt:1"),
    ],
)
def test_a_breach_is_named(tree: Path, file: str, text: str, said: str) -> None:
    (tree / file).write_text(text)
    [breach] = house.breaches(tree)
    assert breach.startswith(said)


@pytest.mark.parametrize(
    ("licence", "breach"),
    [
        ("GPL-3.0-only", True),
        ("GNU Affero General Public License v3", True),
        ("GNU General Public License v2 (GPLv2)", True),
        ("LGPL-3.0-only", False),
        ("GNU Lesser General Public License v3", False),
        ("MPL-2.0 AND MIT", False),
    ],
)
def test_copyleft_is_told_from_what_is_not(tree: Path, licence: str, breach: bool) -> None:
    (tree / "constraints.txt").write_text("not-installed-here==1\n")
    (tree / "docs" / "licences.md").write_text(f"| not-installed-here | 1 | {licence} |\n")
    assert bool(copyleft(tree)) == breach


def test_make_alone_prints_every_target_in_groups() -> None:
    done = subprocess.run(
        ["make", "--no-print-directory"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    for target in targets:
        assert re.search(rf"^  make {target} +\S", done.stdout, re.MULTILINE), target
    assert "\nUse\n" in done.stdout
    assert "\nDevelop\n" in done.stdout


@pytest.mark.parametrize("script", [".ci/run", "deploy/local/install.sh"])
def test_scripts_are_executable_and_well_formed(script: str) -> None:
    assert (ROOT / script).stat().st_mode & 0o100
    subprocess.run(["bash", "-n", script], cwd=ROOT, check=True)


def test_nothing_names_an_address_of_a_package_index() -> None:
    for name in ("constraints.txt", "pyproject.toml", "Makefile", ".ci/run"):
        assert "://" not in (ROOT / name).read_text(), name


def test_the_clients_own_package_holds_the_client_and_the_contracts_whole() -> None:
    stated = tomllib.loads((ROOT / "libs" / "client" / "pyproject.toml").read_text())
    found = {"libs"}
    for part in ("client", "contracts"):
        for module in (ROOT / "libs" / part).rglob("__init__.py"):
            found.add(".".join(module.parent.relative_to(ROOT).parts))
    assert set(stated["tool"]["setuptools"]["packages"]) == found
    needed = set(stated["project"]["dependencies"])
    whole = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert needed <= set(whole["dependencies"])
    assert stated["project"]["version"] == whole["version"]
