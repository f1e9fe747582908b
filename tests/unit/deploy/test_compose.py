"""The compose file gives each service what its settings read, and what the manifests give too."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from deploy.images.roles import PARSER, SERVICE
from deploy.local.generated.cluster import BOOTSTRAP, STORES
from deploy.local.generated.environment import settings_of, variables_of
from deploy.local.generated.permissions import permissions
from deploy.local.house import ROOT
from libs.contracts.subjects import Stage
from libs.runtime.settings import Settings
from tests.support.manifests import container_of, named, overlay, pod_of, workloads

FOLDER = ROOT / "deploy" / "compose"
each_stage = pytest.mark.parametrize("stage", list(Stage))
ALL = {"catalog", "objects", "index", "graph"}


def filled(value: Any) -> Any:
    """With the defaults of its variables, as compose fills them in."""
    if isinstance(value, str):
        return re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
    if isinstance(value, dict):
        return {key: filled(part) for key, part in value.items()}
    if isinstance(value, list):
        return [filled(part) for part in value]
    return value


COMPOSE: dict[str, Any] = filled(yaml.safe_load((FOLDER / "compose.yaml").read_text()))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = [*map(str, Stage), BOOTSTRAP]
SERVERS = {"nats", "postgres", "minio", "opensearch", "neo4j"}


def known_variables(name: str) -> set[str]:
    return set(variables_of(Settings if name == BOOTSTRAP else settings_of(name)))


@pytest.mark.parametrize("name", OURS)
def test_every_variable_is_a_setting(name: str) -> None:
    given = set(SERVICES[name]["environment"])
    everyones = {variable for variable in given if variable.startswith("OTEL_")}
    assert given - everyones <= known_variables(name)
    assert not re.search(r"\$\{", str(SERVICES[name]))


@each_stage
def test_the_settings_take_what_the_service_is_given(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = SERVICES[stage]
    for variable, value in service["environment"].items():
        assert isinstance(value, str)
        monkeypatch.setenv(variable, value)
    settings = settings_of(stage)(_env_file=None)  # type: ignore[call-arg]
    assert f"127.0.0.1:{settings.probe_port}/readyz" in service["healthcheck"]["test"][-1]
    assert str(settings.data_dir) in {v["target"] for v in service["volumes"]}
    assert service["command"] == ["python", "-m", f"services.{stage}.app"]
    assert urlsplit(str(settings.nats_url)).username == stage
    hosts = {
        urlsplit(getattr(settings, f"resolved_{store}_url")()).hostname
        for store in STORES[stage]
        if store != "objects"
    }
    assert hosts <= SERVERS
    grace = int(service["stop_grace_period"].removesuffix("s"))
    assert grace > max(settings.ack_wait_seconds, settings.shutdown_seconds + 10)


@pytest.mark.parametrize("name", OURS)
def test_a_service_is_told_of_its_own_stores_alone(name: str) -> None:
    stores = ALL if name == BOOTSTRAP else set(STORES[Stage(name)])
    told = {store for store in ALL if f"GROUNDWIRE_{store.upper()}_URL"
            in SERVICES[name]["environment"]}  # fmt: skip
    assert told == stores


@pytest.mark.parametrize("name", OURS)
def test_a_service_is_hardened_as_its_pod_is(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    role = PARSER if name == "parser" else SERVICE
    assert service["image"].rpartition(":")[0] == f"groundwire/{role}"
    kind = "Job" if name == BOOTSTRAP else "Deployment"
    limit = container_of(named(overlay("trial"), kind, name))["resources"]["limits"]["memory"]
    assert service["mem_limit"] == limit.replace("Mi", "m").replace("Gi", "g")


@each_stage
def test_services_start_when_everything_is_prepared(stage: Stage) -> None:
    assert SERVICES[stage]["depends_on"] == {
        BOOTSTRAP: {"condition": "service_completed_successfully"}
    }
    assert set(SERVICES[BOOTSTRAP]["depends_on"]) == SERVERS
    for server in SERVERS:
        assert SERVICES[server]["healthcheck"]["test"]


def test_the_bus_knows_every_user_by_its_password() -> None:
    passwords = SERVICES["nats"]["environment"]
    assert {f"NATS_{user.upper()}_PASSWORD" for user in permissions()} <= set(passwords)
    for name in OURS:
        url = urlsplit(SERVICES[name]["environment"]["GROUNDWIRE_NATS_URL"])
        assert url.password == passwords[f"NATS_{name.upper()}_PASSWORD"]


def test_servers_are_those_of_the_trial() -> None:
    for workload in workloads(overlay("trial")):
        name = workload["metadata"]["name"]
        if name in SERVERS:
            assert SERVICES[name]["image"] == container_of(workload)["image"]
            assert pod_of(workload)["spec"]["automountServiceAccountToken"] is False


def test_nothing_is_open_to_other_machines() -> None:
    for service in SERVICES.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_mounted_files_are_there() -> None:
    for service in SERVICES.values():
        for volume in service.get("volumes", ()):
            if isinstance(volume, str) and volume.startswith("."):
                assert (FOLDER / volume.partition(":")[0]).exists()
            elif isinstance(volume, str):
                assert volume.partition(":")[0] in COMPOSE["volumes"]


def test_every_service_is_scraped() -> None:
    content = yaml.safe_load((FOLDER / "prometheus.yaml").read_text())
    (job,) = content["scrape_configs"]
    (targets,) = (entry["targets"] for entry in job["static_configs"])
    port = SERVICES["gateway"]["environment"]["GROUNDWIRE_PROBE_PORT"]
    assert set(targets) == {f"{stage}:{port}" for stage in Stage}
    mounted = {v.split(":")[1] for v in SERVICES["prometheus"]["volumes"] if isinstance(v, str)}
    assert {str(Path("/etc/prometheus") / rules) for rules in content["rule_files"]} <= mounted
