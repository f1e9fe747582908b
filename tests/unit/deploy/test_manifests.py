"""Every manifest that can be rendered is whole, strict, restricted and selects what it means."""

from collections import Counter
from itertools import chain, combinations
from pathlib import Path

import pytest
from jsonschema import ValidationError

from tests.support.manifests import (
    BASE,
    COMPONENTS,
    OVERLAYS,
    Object,
    check,
    combined,
    container_of,
    named,
    of_kind,
    ours,
    overlay,
    pod_of,
    references,
    rendered,
    workloads,
)

SERVICES = {"gateway", "profiler", "parser", "chunker", "indexer", "retriever", "planner"}
SETS = list(chain.from_iterable(combinations(COMPONENTS, n) for n in range(len(COMPONENTS) + 1)))
FOLDERS = [BASE, *(BASE.parent / "overlays" / name for name in OVERLAYS)]

each_folder = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


def fits(selector: Object, labels: dict[str, str]) -> bool:
    wanted = selector.get("matchLabels", {}).items() <= labels.items()
    return wanted and all(
        (labels.get(e["key"]) in e["values"]) is (e["operator"] == "In")
        for e in selector.get("matchExpressions", ())
    )


def test_there_are_two_overlays_and_their_components() -> None:
    assert OVERLAYS == ["production", "trial"]
    assert COMPONENTS == ["autoscaling", "external-secrets", "network-policies", "telemetry"]


@each_folder
def test_every_object_keeps_to_its_schema(folder: Path) -> None:
    for found in rendered(folder):
        check(found)


@pytest.mark.parametrize("names", SETS, ids="+".join)
def test_components_go_together_in_every_way(names: tuple[str, ...], tmp_path: Path) -> None:
    found = combined(names, tmp_path)
    places = Counter((o["kind"], o["metadata"]["name"]) for o in found)
    assert {w["metadata"]["name"] for w in of_kind(found, "Deployment")} == SERVICES
    assert max(places.values()) == 1


def test_a_misspelt_field_is_refused(tmp_path: Path) -> None:
    scaler = named(combined(["autoscaling"], tmp_path), "ScaledObject", "parser")
    check(scaler)
    wrong = scaler | {"spec": scaler["spec"] | {"maxReplicaCnt": 3}}
    with pytest.raises(ValueError, match="maxReplicaCnt"):
        check(wrong)
    deployment = named(rendered(BASE), "Deployment", "parser")
    with pytest.raises(ValidationError, match="replica"):
        check(deployment | {"spec": deployment["spec"] | {"replica": 3}})


@each_folder
def test_pods_are_restricted(folder: Path) -> None:
    for workload in workloads(rendered(folder)):
        pod, container = pod_of(workload)["spec"], container_of(workload)
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert not pod.keys() & {"hostNetwork", "hostPID", "hostIPC", "hostUsers"}
        assert not any("hostPath" in volume for volume in pod["volumes"])
        resources = container["resources"]
        assert resources["requests"].keys() == {"cpu", "memory"}
        assert "memory" in resources["limits"]
    (namespace,) = of_kind(rendered(folder), "Namespace")
    assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@each_folder
def test_our_pods_write_to_scratch_folders_alone(folder: Path) -> None:
    for workload in ours(rendered(folder)):
        pod, container = pod_of(workload)["spec"], container_of(workload)
        assert container["securityContext"]["readOnlyRootFilesystem"] is True
        mounts = {m["name"]: m["mountPath"] for m in container["volumeMounts"]}
        assert mounts == {"data": "/var/lib/groundwire", "tmp": "/tmp"}
        assert {v["name"] for v in pod["volumes"]} == set(mounts)
        assert all(volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"])


@each_folder
def test_images_are_pinned(folder: Path) -> None:
    for workload in workloads(rendered(folder)):
        tag = container_of(workload)["image"].rpartition(":")[2]
        assert any(c.isdigit() for c in tag)
        assert "/" not in tag


@each_folder
def test_selectors_select_their_own_pods(folder: Path) -> None:
    objects = rendered(folder)
    pods = {
        w["metadata"]["name"]: pod_of(w)["metadata"]["labels"]
        for w in workloads(objects)
        if w["kind"] != "Job"
    }
    for workload in of_kind(objects, "Deployment", "StatefulSet"):
        selector = workload["spec"]["selector"]
        name = workload["metadata"]["name"]
        assert [n for n, labels in pods.items() if fits(selector, labels)] == [name]
    for kind in ("PodDisruptionBudget", "Service"):
        for found in of_kind(objects, kind):
            raw = found["spec"]["selector"]
            selector = raw if kind != "Service" else {"matchLabels": raw}
            hit = [n for n, labels in pods.items() if fits(selector, labels)]
            assert hit == [found["metadata"]["name"]]
    budgets = {b["metadata"]["name"] for b in of_kind(objects, "PodDisruptionBudget")}
    assert budgets == SERVICES


@each_folder
def test_pods_of_a_service_are_spread(folder: Path) -> None:
    for deployment in of_kind(rendered(folder), "Deployment"):
        pod = pod_of(deployment)
        spread = pod["spec"]["topologySpreadConstraints"]
        assert {s["topologyKey"] for s in spread} == {
            "topology.kubernetes.io/zone",
            "kubernetes.io/hostname",
        }
        for constraint in spread:
            assert fits(constraint["labelSelector"], pod["metadata"]["labels"])
            assert "app.kubernetes.io/component" in constraint["matchLabelKeys"]


@each_folder
def test_services_lead_to_ports_that_pods_name(folder: Path) -> None:
    objects = rendered(folder)
    for service in of_kind(objects, "Service"):
        name = service["metadata"]["name"]
        kind = "Deployment" if name in SERVICES else "StatefulSet"
        offered = {p["name"] for p in container_of(named(objects, kind, name))["ports"]}
        assert {p["targetPort"] for p in service["spec"]["ports"]} <= offered


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_reference_leads_somewhere(name: str) -> None:
    objects = overlay(name)
    given = {
        (kind, found["metadata"]["name"]): set(found["data"])
        for kind in ("ConfigMap", "Secret")
        for found in of_kind(objects, kind)
    } | {
        ("Secret", s["spec"]["target"]["name"]): {d["secretKey"] for d in s["spec"]["data"]}
        for s in of_kind(objects, "ExternalSecret")
    }
    used = 0
    for workload in workloads(objects):
        for _, reference in references(container_of(workload)):
            used += 1
            keys = given[reference.kind, reference.name]
            assert reference.key is None or reference.key in keys
    for found in of_kind(objects, "TriggerAuthentication"):
        for target in found["spec"]["configMapTargetRef"]:
            assert target["key"] in given["ConfigMap", target["name"]]
    assert used > 50


def test_the_base_alone_does_not_start_on_stores_that_end_with_the_pod() -> None:
    objects = rendered(BASE)
    given = {found["metadata"]["name"] for found in of_kind(objects, "ConfigMap", "Secret")}
    for workload in ours(objects):
        urls = {v: r for v, r in references(container_of(workload)) if v and v.endswith("_URL")}
        assert "GROUNDWIRE_CATALOG_URL" in urls
        assert all(not r.optional and r.name not in given for r in urls.values())
