"""Operators' commands inside the cluster have all that the bootstrap Job has."""

import re
import shlex
from typing import Any

import pytest
import yaml

from deploy.k8s import job
from deploy.local.house import ROOT
from libs.client.cli.app import build
from tests.support.manifests import (
    K8S,
    OVERLAYS,
    Object,
    check,
    container_of,
    named,
    overlay,
    pod_of,
    references,
)

PAGE = (ROOT / "docs" / "operators-kubernetes.md").read_text()
CALLS = re.findall(r"^python -m deploy\.k8s\.job your-overlay (.+?) \| kubectl", PAGE, re.MULTILINE)


def said(capsys: pytest.CaptureFixture[str], name: str, words: str) -> Object:
    """What a line of the guide prints for an overlay."""
    assert job.main([str(K8S / "overlays" / name), *shlex.split(words)]) == 0
    found: Any = yaml.safe_load(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("name", OVERLAYS)
@pytest.mark.parametrize("words", CALLS)
def test_the_guides_commands_make_pods_with_everything_they_need(
    capsys: pytest.CaptureFixture[str], name: str, words: str
) -> None:
    made = said(capsys, name, words)
    of_job = made["spec"]["jobTemplate"] if made["kind"] == "CronJob" else made
    check({**made, "metadata": {"name": "one", **made["metadata"]}})
    objects = overlay(name)
    template, indexer = named(objects, "Job", "bootstrap"), named(objects, "Deployment", "indexer")
    container = container_of(of_job)
    assert set(references(container)) == set(references(container_of(template)))
    assert container["resources"] == container_of(indexer)["resources"]
    assert pod_of(of_job)["metadata"] == pod_of(template)["metadata"]
    security = pod_of(template)["spec"]["securityContext"]
    assert pod_of(of_job)["spec"]["securityContext"] == security
    assert "activeDeadlineSeconds" not in of_job["spec"]
    assert "annotations" not in made["metadata"]


@pytest.mark.parametrize("words", CALLS)
def test_the_guides_commands_are_commands(words: str) -> None:
    program, verb = shlex.split(words.partition("-- ")[2])[:2]
    known = {c.callback.__name__ for c in build().registered_commands if c.callback is not None}
    assert program == "groundwire"
    assert verb in known


def test_a_backup_has_somewhere_to_go(capsys: pytest.CaptureFixture[str]) -> None:
    words = "--claim backups --schedule '0 3 * * *' -- groundwire backup /backup"
    made = said(capsys, "production", words)
    assert (made["kind"], made["spec"]["schedule"]) == ("CronJob", "0 3 * * *")
    pod = pod_of(made["spec"]["jobTemplate"])["spec"]
    (container,) = pod["containers"]
    mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
    (volume,) = (v for v in pod["volumes"] if "persistentVolumeClaim" in v)
    assert mounts[volume["name"]] in container["command"]
    assert volume["persistentVolumeClaim"] == {"claimName": "backups"}


def test_a_folder_without_the_job_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    folder = K8S / "components" / "external-secrets"
    assert job.main([str(folder), "--", "groundwire", "check"]) == 1
    assert "bootstrap" in capsys.readouterr().err
