"""The parts of other projects' resources that our manifests use, so strict that a misspelt
field fails; `make check-k8s` checks them against the projects' own definitions."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Metadata(Strict):
    name: str
    namespace: str | None = None
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}


Count = Annotated[int, Field(ge=0)]


class TargetRef(Strict):
    name: str
    kind: str = "Deployment"
    apiVersion: str = "apps/v1"


class AuthenticationRef(Strict):
    name: str
    kind: str = "TriggerAuthentication"


class JetStreamMetadata(Strict):
    account: str
    stream: str
    consumer: str
    lagThreshold: Annotated[str, Field(pattern=r"^[1-9]\d*$")]
    activationLagThreshold: Annotated[str, Field(pattern=r"^\d+$")] = "0"
    natsServerMonitoringEndpoint: str | None = None
    useHttps: Literal["true", "false"] = "false"


class Trigger(Strict):
    type: Literal["nats-jetstream"]
    metadata: JetStreamMetadata
    authenticationRef: AuthenticationRef


class ScaledObjectSpec(Strict):
    scaleTargetRef: TargetRef
    minReplicaCount: Count
    maxReplicaCount: Annotated[int, Field(ge=1)]
    pollingInterval: Annotated[int, Field(ge=1)]
    cooldownPeriod: Count
    advanced: dict[Literal["horizontalPodAutoscalerConfig"], dict[Literal["behavior"], Any]]
    triggers: Annotated[list[Trigger], Field(min_length=1)]


class ScaledObject(Strict):
    apiVersion: Literal["keda.sh/v1alpha1"]
    kind: Literal["ScaledObject"]
    metadata: Metadata
    spec: ScaledObjectSpec


class ConfigMapTarget(Strict):
    parameter: str
    name: str
    key: str


class TriggerAuthenticationSpec(Strict):
    configMapTargetRef: list[ConfigMapTarget]


class TriggerAuthentication(Strict):
    apiVersion: Literal["keda.sh/v1alpha1"]
    kind: Literal["TriggerAuthentication"]
    metadata: Metadata
    spec: TriggerAuthenticationSpec


class StoreRef(Strict):
    kind: Literal["SecretStore", "ClusterSecretStore"]
    name: str


class SecretTarget(Strict):
    name: str
    creationPolicy: Literal["Owner", "Merge", "Orphan", "None"]


class RemoteRef(Strict):
    key: str
    property: str


class SecretData(Strict):
    secretKey: str
    remoteRef: RemoteRef


class ExternalSecretSpec(Strict):
    refreshInterval: str
    secretStoreRef: StoreRef
    target: SecretTarget
    data: list[SecretData]


class ExternalSecret(Strict):
    apiVersion: Literal["external-secrets.io/v1"]
    kind: Literal["ExternalSecret"]
    metadata: Metadata
    spec: ExternalSecretSpec


class Relabeling(Strict):
    sourceLabels: list[str]
    targetLabel: str


class Endpoint(Strict):
    port: str
    path: str
    interval: str
    relabelings: list[Relabeling] = []


class LabelSelector(Strict):
    matchLabels: dict[str, str] = {}
    matchExpressions: list[dict[Literal["key", "operator", "values"], Any]] = []


class PodMonitorSpec(Strict):
    selector: LabelSelector
    podMetricsEndpoints: list[Endpoint]


class PodMonitor(Strict):
    apiVersion: Literal["monitoring.coreos.com/v1"]
    kind: Literal["PodMonitor"]
    metadata: Metadata
    spec: PodMonitorSpec


class Rule(Strict):
    alert: str
    expr: str
    labels: dict[Literal["severity"], Literal["warning", "critical"]]
    annotations: dict[Literal["summary", "description", "runbook_url"], str]
    for_: Annotated[str, Field(alias="for", pattern=r"^\d+[smhd]$")]


class Group(Strict):
    name: str
    rules: list[Rule]


class RuleSpec(Strict):
    groups: list[Group]


class PrometheusRule(Strict):
    apiVersion: Literal["monitoring.coreos.com/v1"]
    kind: Literal["PrometheusRule"]
    metadata: Metadata
    spec: RuleSpec


CUSTOM: dict[str, type[Strict]] = {
    model.__name__: model
    for model in (
        ScaledObject,
        TriggerAuthentication,
        ExternalSecret,
        PodMonitor,
        PrometheusRule,
    )
}
"""By kind."""
