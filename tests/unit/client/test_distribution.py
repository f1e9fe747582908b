"""The client is a product of its own: what it is made of and what it needs."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

from deploy.local.house import ROOT
from tests.support.waiting import PATIENCE

FOLDER = ROOT / "libs" / "client"
PROJECT = tomllib.loads((FOLDER / "pyproject.toml").read_text())

IMPORT_ALL = """
import importlib, importlib.metadata as metadata, pkgutil, re, sys

def names(requirement):
    return re.match(r"[A-Za-z0-9._-]+", requirement)[0].lower().replace("_", "-")

wanted, allowed = set(sys.argv[1:]), set()
while wanted:
    name = wanted.pop()
    allowed.add(name)
    try:
        needs = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        continue
    wanted |= {names(n) for n in needs if "extra ==" not in n} - allowed

others = {top for top, owners in metadata.packages_distributions().items()
          if not {o.lower().replace("_", "-") for o in owners} & allowed}
OURS = (["libs"], ["libs", "client"], ["libs", "contracts"])

class OnlyThese:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top in ("services", "deploy") or top in others - {"libs"}:
            raise ModuleNotFoundError(f"{name} is not declared", name=name)
        if top == "libs" and name.split(".")[:2] not in OURS:
            raise ModuleNotFoundError(f"{name} is not the client's", name=name)

sys.meta_path.insert(0, OnlyThese())
import libs.client
for found in pkgutil.walk_packages(libs.client.__path__, "libs.client."):
    if not found.name.startswith("libs.client.mcp"):
        importlib.import_module(found.name)
from libs.client.cli.app import root
print("imported")
"""


def test_it_needs_what_it_declares_and_nothing_else_of_ours() -> None:
    declared = [re.split(r"[><=\[]", one)[0].lower() for one in PROJECT["project"]["dependencies"]]
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, *declared],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.stdout.strip() == "imported", done.stderr


def test_every_package_of_client_and_contracts_is_in_it() -> None:
    there = {
        ".".join(init.parent.relative_to(ROOT).parts)
        for part in ("client", "contracts")
        for init in (ROOT / "libs" / part).rglob("__init__.py")
        if "build" not in init.parts
    }
    assert set(PROJECT["tool"]["setuptools"]["packages"]) == {"libs"} | there


def test_it_is_typed() -> None:
    typed = PROJECT["tool"]["setuptools"]["package-data"]
    for package in ("libs.client", "libs.contracts"):
        assert "py.typed" in typed[package]
        assert (ROOT / Path(*package.split(".")) / "py.typed").exists()
