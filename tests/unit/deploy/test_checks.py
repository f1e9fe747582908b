"""What `make check-k8s` and `make check-k8s-server` are made of, without Go and servers."""

from pathlib import Path

import pytest
import yaml

from deploy.k8s import tools
from deploy.k8s.check import closed, custom_findings, custom_schemas
from deploy.k8s.server import in_namespace, pods
from deploy.k8s.tools import K8S, Definitions, Lacking, definition_files, objects, program
from tests.support.manifests import of_kind, workloads

DEFINITION = {
    "kind": "CustomResourceDefinition",
    "spec": {
        "group": "example.com",
        "names": {"kind": "Thing"},
        "versions": [
            {
                "name": "v1",
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "apiVersion": {"type": "string"},
                            "kind": {"type": "string"},
                            "metadata": {"type": "object"},
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "count": {"type": "integer"},
                                    "port": {"x-kubernetes-int-or-string": True, "type": "string"},
                                    "free": {
                                        "type": "object",
                                        "properties": {"a": {"type": "string"}},
                                        "x-kubernetes-preserve-unknown-fields": True,
                                    },
                                },
                            },
                        },
                    }
                },
            }
        ],
    },
}


def thing(**spec: object) -> dict[str, object]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "one", "labels": {}},
        "spec": spec,
    }


@pytest.mark.parametrize(
    ("spec", "findings"),
    [
        ({"count": 1}, 0),
        ({"port": 80}, 0),
        ({"free": {"anything": 1}}, 0),
        ({"counts": 1}, 1),
        ({"count": "1"}, 1),
        ({"count": "1", "counts": 2}, 2),
    ],
)
def test_a_definition_refuses_what_its_server_would(
    tmp_path: Path, spec: dict[str, object], findings: int
) -> None:
    file = tmp_path / "crd.yaml"
    file.write_text(yaml.safe_dump(DEFINITION))
    schemas = custom_schemas([file])
    assert len(list(custom_findings([thing(**spec)], schemas))) == findings


def test_a_schema_without_fields_stays_open() -> None:
    assert closed({"type": "object"}) == {"type": "object"}


@pytest.mark.parametrize("name", ["production", "trial"])
def test_an_overlay_moves_as_a_whole_to_another_namespace(name: str) -> None:
    with in_namespace(K8S / "overlays" / name, "elsewhere") as text:
        found = objects(text)
    (namespace,) = of_kind(found, "Namespace")
    assert namespace["metadata"]["name"] == "elsewhere"
    rest = [each for each in found if each["kind"] != "Namespace"]
    assert {each["metadata"]["namespace"] for each in rest} == {"elsewhere"}
    made = list(pods(found, "elsewhere"))
    assert len(made) == len(workloads(found))
    for pod in made:
        mounted = {mount["name"] for mount in pod["spec"]["containers"][0]["volumeMounts"]}
        assert mounted <= {volume["name"] for volume in pod["spec"]["volumes"]}


def test_a_tool_that_is_not_there_is_named_with_the_way_to_get_it() -> None:
    with pytest.raises(Lacking, match="install it so"):
        program("no-such-program-at-all", "install it so")


def test_another_release_than_the_pinned_one_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = tmp_path / "go"
    fake.write_text('#!/bin/sh\necho \'{"Sum": "h1:other", "Dir": "/nowhere"}\'\n')
    fake.chmod(0o755)
    monkeypatch.setattr(tools, "go", lambda: str(fake))
    wanted = Definitions("example.com/m", "v1.0.0", "h1:this", ("crd.yaml",))
    with pytest.raises(ValueError, match="checksum"):
        definition_files([wanted])
