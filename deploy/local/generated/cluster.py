"""`deploy/k8s/components/*`: who may talk to whom, and what each stage is scaled by.

Derived from the catalogue of the bus, as the NATS permissions are, and from the stores that
each service opens. `bootstrap` is the Job that prepares them all.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from deploy.local.generated.environment import settings_of
from libs.contracts.subjects import CONSUMERS, PARSE, Consumer, Stage
from libs.runtime.routes import durable_name, stream_name

COMPONENTS = Path("deploy/k8s/components")
POLICIES = COMPONENTS / "network-policies" / "policies.yaml"
SCALERS = COMPONENTS / "autoscaling" / "scalers.yaml"
PREFIX = "groundwire"
BOOTSTRAP = "bootstrap"
HTTP_PORT, PROBE_PORT = 8080, 8081

SERVERS: Mapping[str, Sequence[int]] = {
    "bus": (4222,),
    "catalog": (5432,),
    "objects": (443, 9000),
    "index": (9200,),
    "graph": (7687,),
    "traces": (4318,),
}
"""The ports of what services talk to, as their makers set them; an overlay may change them."""

PIPELINE = (Stage.PROFILER, Stage.PARSER, Stage.CHUNKER, Stage.INDEXER)
"""What is scaled by the messages that wait; the rest is scaled by its load."""

STORES: Mapping[Stage, Sequence[str]] = {
    Stage.GATEWAY: ("catalog", "objects"),
    Stage.PROFILER: ("catalog", "objects"),
    Stage.PARSER: ("catalog", "objects"),
    Stage.CHUNKER: ("catalog", "objects"),
    Stage.INDEXER: ("catalog", "objects", "index", "graph"),
    Stage.RETRIEVER: ("catalog", "objects", "index", "graph"),
    Stage.PLANNER: ("catalog", "objects"),
}
"""The stores that a service opens: its own, and of the pipeline the catalog, where failures
are counted, and the objects, where long messages lie."""

DISPENSABLE: Mapping[Stage, Sequence[str]] = {Stage.RETRIEVER: ("objects", "graph")}
"""Of these the ones that a service works without, so that it is ready while they are away: search
goes on without related documents, and by the last known calibrations."""

SLOTS = 2
"""Children of a profiler or parser pod, as its Deployment sets it."""

MOST_PODS = 16

_HEAD = "# Written from the catalogue of the bus by `make fix`; change it there.\n"


def at_once(stage: Stage) -> int:
    """Messages of one durable that one pod of a pipeline stage works on at a time."""
    field = settings_of(stage).model_fields.get(f"{stage}_workers")
    return SLOTS if field is None else int(field.default)


def talkers(server: str) -> list[str]:
    """Who opens connections to a server: the services, and the Job that prepares it."""
    everyone = server in ("bus", "traces")
    stages = [str(stage) for stage in Stage if everyone or server in STORES[stage]]
    return stages if server == "traces" else [*stages, BOOTSTRAP]


def _policy(name: str, pods: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": name},
        "spec": {"podSelector": pods, "policyTypes": [kind.title() for kind in spec], **spec},
    }


def _components(names: Sequence[str]) -> dict[str, Any]:
    key = "app.kubernetes.io/component"
    return {
        "matchLabels": {"app.kubernetes.io/name": "groundwire"},
        "matchExpressions": [{"key": key, "operator": "In", "values": [str(n) for n in names]}],
    }


def _ports(*ports: int, protocol: str = "TCP") -> list[dict[str, Any]]:
    return [{"protocol": protocol, "port": port} for port in ports]


def _in_namespace(name: str) -> dict[str, Any]:
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def network_policies() -> list[dict[str, Any]]:
    """Nothing is allowed; then what each pod needs. Servers are told by their ports: an overlay
    that knows where they are adds `to`."""
    everyone = [*map(str, Stage), BOOTSTRAP]
    resolver = _in_namespace("kube-system") | {
        "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}
    }
    names = {
        "to": [resolver],
        "ports": [*_ports(53, protocol="UDP"), *_ports(53)],
    }
    deny = _policy("default-deny", {}, ingress=[], egress=[])
    return [
        deny,
        _policy("to-names", {}, egress=[names]),
        *(
            _policy(f"to-{server}", _components(talkers(server)), egress=[{"ports": _ports(*p)}])
            for server, p in SERVERS.items()
        ),
        _policy(
            "from-clients",
            _components([Stage.GATEWAY]),
            ingress=[{"from": [{"namespaceSelector": {}}], "ports": _ports(HTTP_PORT)}],
        ),
        _policy(
            "from-monitoring",
            _components(everyone),
            ingress=[{"from": [_in_namespace("monitoring")], "ports": _ports(PROBE_PORT)}],
        ),
    ]


def _triggers(stage: Stage) -> list[dict[str, Any]]:
    return [
        {
            "type": "nats-jetstream",
            "metadata": {
                "account": "$G",
                "stream": stream_name(PREFIX, consumer.stream),
                "consumer": durable_name(consumer),
                "lagThreshold": str(_most(consumer)),
            },
            "authenticationRef": {"name": "bus-monitor"},
        }
        for consumer in CONSUMERS
        if consumer.stage is stage
    ]


def _most(consumer: Consumer) -> int:
    """Messages, waiting or in hand, that one pod is enough for. Before the parsers the gateway
    lets no more stand than half of what they have in hand, so there less is a sign already."""
    busy = at_once(consumer.stage)
    return busy if consumer is PARSE else 2 * busy


def scaled_objects() -> list[dict[str, Any]]:
    """One for each pipeline stage: a trigger for each of its durables. Where the server's
    monitoring answers is part of the addresses of the stores."""
    where = {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "TriggerAuthentication",
        "metadata": {"name": "bus-monitor"},
        "spec": {
            "configMapTargetRef": [
                {
                    "parameter": "natsServerMonitoringEndpoint",
                    "name": "groundwire-stores",
                    "key": "bus-monitor",
                }
            ]
        },
    }
    return [where, *map(_scaled, PIPELINE)]


def _scaled(stage: Stage) -> dict[str, Any]:
    return {
        "apiVersion": "keda.sh/v1alpha1",
        "kind": "ScaledObject",
        "metadata": {"name": str(stage), "labels": {"app.kubernetes.io/component": str(stage)}},
        "spec": {
            "scaleTargetRef": {"name": str(stage)},
            "minReplicaCount": 1,
            "maxReplicaCount": MOST_PODS,
            "pollingInterval": 10,
            "cooldownPeriod": 300,
            "advanced": {
                "horizontalPodAutoscalerConfig": {
                    "behavior": {"scaleDown": {"stabilizationWindowSeconds": 300}}
                }
            },
            "triggers": _triggers(stage),
        },
    }


def _documents(objects: Sequence[Mapping[str, Any]]) -> str:
    return _HEAD + "---\n".join(yaml.safe_dump(o, sort_keys=False) for o in objects)


def render(_root: Path) -> dict[Path, str]:
    """The files."""
    return {POLICIES: _documents(network_policies()), SCALERS: _documents(scaled_objects())}
