"""Dashboards and alerts ask in good PromQL, for metrics, labels and values that exist."""

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import promql_parser
import pytest
import yaml

from deploy.local.generated.metrics import MODULES, metrics
from deploy.local.generated.telemetry import ALERTS, DASHBOARDS, FOLDER, dashboard
from deploy.local.house import ROOT
from libs.contracts.subjects import CONSUMERS, STREAMS
from libs.runtime.faultpolicy import Action
from libs.runtime.telemetry import MESSAGES, STORE_SECONDS
from libs.runtime.work import Standing
from tests.support.gateway_fakes import schema
from tests.support.manifests import container_of, named, of_kind, overlay

SUFFIXES = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum"), "gauge": ("",)}
KNOWN: dict[str, set[str]] = {
    name + suffix: {*labels, *(["le"] if suffix == "_bucket" else [])}
    for name, kind, labels, _ in metrics()
    for suffix in SUFFIXES[kind]
}
OF_PROCESSES = {"process_resident_memory_bytes"}
ROUTES = set(schema()["paths"])


def values_in(text: str) -> set[str]:
    """The words in the brackets of a metric's meaning."""
    (inner,) = re.findall(r"\(([^)]*)\)", text)
    return set(re.split(r",\s*", inner))


VALUES = {
    ("groundwire_messages", "consumer"): {c.durable for c in CONSUMERS},
    ("groundwire_messages", "outcome"): values_in(MESSAGES._documentation),
    ("groundwire_store_seconds", "outcome"): values_in(STORE_SECONDS._documentation),
    ("groundwire_stream_filled_ratio", "stream"): {stream.name for stream in STREAMS},
    ("groundwire_http_seconds", "route"): ROUTES,
    ("groundwire_http_requests", "route"): ROUTES,
}


def test_the_outcomes_of_deliveries_are_those_that_are_told() -> None:
    made = {"done", "handed_over", *get_args(Action), *get_args(Standing)} - {"free"}
    assert values_in(MESSAGES._documentation) == made


def alerts() -> list[dict[str, Any]]:
    content = yaml.safe_load((ROOT / ALERTS).read_text())
    return [rule for group in content["groups"] for rule in group["rules"]]


def panels() -> list[tuple[str, str]]:
    return [
        (expression, legend)
        for _, made in DASHBOARDS.values()
        for panel in made
        for expression, legend in panel.expressions
    ]


def selectors(node: Any) -> Iterator[Any]:
    """Every selector of series in an expression."""
    if isinstance(node, promql_parser.VectorSelector):
        yield node
        return
    for name in ("expr", "lhs", "rhs", "param", "vector_selector", "vs"):
        if (part := getattr(node, name, None)) is not None:
            yield from selectors(part)
    for part in getattr(node, "args", None) or ():
        yield from selectors(part)


def parsed(expression: str) -> Any:
    return promql_parser.parse(expression.replace("$__rate_interval", "5m"))


def family(name: str) -> str:
    return re.sub(r"_(total|bucket|count|sum)$", "", name)


def check(expression: str) -> None:
    found = list(selectors(parsed(expression)))
    assert found, expression
    for selector in found:
        if selector.name in OF_PROCESSES:
            continue
        assert selector.name in KNOWN
        for matcher in selector.matchers.matchers:
            assert matcher.name in KNOWN[selector.name]
            values = VALUES.get((family(selector.name), matcher.name))
            if values is None:
                assert matcher.name == "status"
            elif matcher.op in (promql_parser.MatchOp.Equal, promql_parser.MatchOp.NotEqual):
                assert matcher.value in values
            else:
                assert set(matcher.value.split("|")) <= values


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_alerts_ask_for_what_exists(rule: dict[str, Any]) -> None:
    check(rule["expr"])
    assert isinstance(parsed(rule["expr"]), promql_parser.BinaryExpr | promql_parser.Call)
    shown = set(re.findall(r"\$labels\.(\w+)", json.dumps(rule["annotations"])))
    assert all(re.search(rf"by \([^)]*\b{label}\b", rule["expr"]) for label in shown)


@pytest.mark.parametrize(("expression", "legend"), panels())
def test_panels_ask_for_what_exists(expression: str, legend: str) -> None:
    check(expression)
    shown = set(re.findall(r"{{(\w+)}}", legend)) - {"pod"}
    assert all(re.search(rf"by \([^)]*\b{label}\b", expression) for label in shown)


def test_every_alert_leads_to_what_to_do_about_it() -> None:
    page = (ROOT / "docs" / "runbooks.md").read_text()
    there = {heading.lower() for heading in re.findall(r"^## (\w+)$", page, re.MULTILINE)}
    led = {rule["annotations"]["runbook_url"].rpartition("/runbooks/#")[2] for rule in alerts()}
    assert led == there
    for rule in alerts():
        assert rule["annotations"]["runbook_url"].endswith(
            rule["alert"].removeprefix("Groundwire").lower()
        )


def test_what_does_not_exist_is_noticed() -> None:
    for wrong in (
        "groundwire_consumer_waiting > 1",
        'groundwire_messages_total{stage="parser"}',
        'rate(groundwire_messages_total{consumer="parsers"}[5m])',
        "sum(rate(groundwire_http_seconds[5m]))",
    ):
        with pytest.raises(AssertionError):
            check(wrong)
    with pytest.raises(ValueError, match="parenthesis"):
        check("sum(groundwire_consumer_pending")


def test_the_alerts_that_must_be_there_are() -> None:
    assert {rule["alert"].removeprefix("Groundwire") for rule in alerts()} >= {
        "ConsumerLag",
        "DeadLetterAge",
        "PublishFailures",
        "ParseErrors",
        "SearchSlow",
    }


@pytest.mark.parametrize("name", DASHBOARDS)
def test_a_dashboard_is_one_that_grafana_reads(name: str) -> None:
    content = json.loads((ROOT / FOLDER / "dashboards" / f"{name}.json").read_text())
    assert content == dashboard(name)
    ids = [panel["id"] for panel in content["panels"]]
    places = {(p["gridPos"]["x"], p["gridPos"]["y"]) for p in content["panels"]}
    assert len(set(ids)) == len(places) == len(ids)
    (variable,) = content["templating"]["list"]
    for panel in content["panels"]:
        assert panel["datasource"]["uid"] == f"${{{variable['name']}}}"
        assert all(target["expr"] and target["refId"] for target in panel["targets"])


def test_the_cluster_is_given_all_of_them() -> None:
    objects = overlay("production")
    boards = named(objects, "ConfigMap", "groundwire-dashboards")
    assert set(boards["data"]) == {f"{name}.json" for name in DASHBOARDS}
    rules = named(objects, "PrometheusRule", "groundwire")["spec"]
    assert [r for group in rules["groups"] for r in group["rules"]] == alerts()


def test_the_page_of_metrics_knows_every_module_that_makes_one() -> None:
    makers = {"Counter", "Gauge", "Histogram", "Summary"}
    found = set()
    for folder in ("libs", "services"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            if "prometheus_client" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if (
                    isinstance(node, ast.ImportFrom)
                    and node.module == "prometheus_client"
                    and makers & {alias.name for alias in node.names}
                ):
                    found.add(".".join(path.relative_to(ROOT).with_suffix("").parts))
    assert found == set(MODULES)


def test_the_collector_uses_what_it_defines_where_services_send_to() -> None:
    content = yaml.safe_load((ROOT / FOLDER / "collector.yaml").read_text())
    (pipeline,) = content["service"]["pipelines"].values()
    for kind in ("receivers", "processors", "exporters"):
        assert set(pipeline[kind]) == set(content[kind])
    port = content["receivers"]["otlp"]["protocols"]["http"]["endpoint"].rpartition(":")[2]
    for deployment in of_kind(overlay("production"), "Deployment"):
        given = {v["name"]: v.get("value", "") for v in container_of(deployment)["env"]}
        assert given["OTEL_EXPORTER_OTLP_ENDPOINT"].endswith(f":{port}")
        assert given["OTEL_TRACES_SAMPLER"] == "parentbased_always_on"
    kinds = {p["name"]: p["type"] for p in content["processors"]["tail_sampling"]["policies"]}
    assert kinds["errors"] == "status_code"
