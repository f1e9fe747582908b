"""`deploy/telemetry/`: dashboards for Grafana and rules for the Prometheus Operator.

The rules are those of `alerts.yaml`, which a plain Prometheus reads as it is.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path("deploy/telemetry")
ALERTS = FOLDER / "alerts.yaml"
RULES = FOLDER / "rules.yaml"
WIDTH, HEIGHT, COLUMNS = 12, 8, 2
SEARCH = '{route="/v1/namespaces/{ns}/search"}'


@dataclass(frozen=True)
class Panel:
    """A graph; each expression comes with the text of its legend. Units as Grafana names them."""

    title: str
    unit: str
    expressions: Sequence[tuple[str, str]]


def _quantile(share: str, metric: str, by: str, matchers: str = "") -> str:
    inner = f"sum by (le{by}) (rate({metric}_bucket{matchers}[$__rate_interval]))"
    return f"histogram_quantile({share}, {inner})"


def _rate(metric: str, by: str, matchers: str = "") -> str:
    return f"sum by ({by}) (rate({metric}{matchers}[$__rate_interval]))"


DASHBOARDS: dict[str, tuple[str, Sequence[Panel]]] = {
    "ingest": (
        "Groundwire: ingest",
        (
            Panel(
                "Messages that wait",
                "short",
                [("max by (consumer) (groundwire_consumer_pending)", "{{consumer}}")],
            ),
            Panel(
                "Messages that are worked on",
                "short",
                [("max by (consumer) (groundwire_consumer_unacknowledged)", "{{consumer}}")],
            ),
            Panel(
                "Deliveries by outcome",
                "ops",
                [(_rate("groundwire_messages_total", "consumer, outcome"),
                  "{{consumer}} {{outcome}}")],
            ),
            Panel(
                "Time of a delivery, p95",
                "s",
                [(_quantile("0.95", "groundwire_message_seconds", ", consumer"), "{{consumer}}")],
            ),
            Panel(
                "Dead letters",
                "short",
                [("max(groundwire_dead_letters)", "letters")],
            ),
            Panel(
                "Age of the oldest dead letter",
                "s",
                [("max(groundwire_dead_letter_age_seconds)", "age")],
            ),
            Panel(
                "Messages published, and not taken",
                "ops",
                [
                    (_rate("groundwire_published_total", "event"), "{{event}}"),
                    (_rate("groundwire_publish_failures_total", "event"), "{{event}} not taken"),
                ],
            ),
            Panel(
                "How full the streams are",
                "percentunit",
                [("max by (stream) (groundwire_stream_filled_ratio)", "{{stream}}")],
            ),
        ),
    ),
    "search": (
        "Groundwire: search and stores",
        (
            Panel(
                "Searches by status",
                "reqps",
                [(_rate("groundwire_http_requests_total", "status", SEARCH), "{{status}}")],
            ),
            Panel(
                "Time of a search",
                "s",
                [
                    (_quantile("0.5", "groundwire_http_seconds", "", SEARCH), "p50"),
                    (_quantile("0.95", "groundwire_http_seconds", "", SEARCH), "p95"),
                    (_quantile("0.99", "groundwire_http_seconds", "", SEARCH), "p99"),
                ],
            ),
            Panel(
                "Time of a request on the bus, p95",
                "s",
                [(_quantile("0.95", "groundwire_request_seconds", ", subject"), "{{subject}}")],
            ),
            Panel(
                "Requests refused at once",
                "reqps",
                [(_rate("groundwire_requests_shed_total", "gate"), "{{gate}}")],
            ),
            Panel(
                "Time of a call to a store, p95",
                "s",
                [(_quantile("0.95", "groundwire_store_seconds", ", store, operation"),
                  "{{store}} {{operation}}")],
            ),
            Panel(
                "Calls to stores that failed",
                "ops",
                [(_rate("groundwire_store_seconds_count", "store, outcome",
                        '{outcome!~"ok|absent"}'), "{{store}} {{outcome}}")],
            ),
            Panel(
                "Requests by route, p95",
                "s",
                [(_quantile("0.95", "groundwire_http_seconds", ", route"), "{{route}}")],
            ),
            Panel(
                "Memory of a pod",
                "bytes",
                [("process_resident_memory_bytes", "{{pod}}")],
            ),
        ),
    ),
}  # fmt: skip


def _panel(number: int, panel: Panel) -> dict[str, Any]:
    source = {"type": "prometheus", "uid": "${source}"}
    row, column = divmod(number, COLUMNS)
    return {
        "id": number + 1,
        "type": "timeseries",
        "title": panel.title,
        "datasource": source,
        "gridPos": {"h": HEIGHT, "w": WIDTH, "x": column * WIDTH, "y": row * HEIGHT},
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}},
        "targets": [
            {
                "refId": chr(65 + i),
                "datasource": source,
                "expr": expression,
                "legendFormat": legend,
                "exemplar": "_bucket" in expression,
            }
            for i, (expression, legend) in enumerate(panel.expressions)
        ],
    }


def dashboard(name: str) -> dict[str, Any]:
    """A dashboard as Grafana imports it; its source of data is chosen on the page."""
    title, panels = DASHBOARDS[name]
    chooser = {"name": "source", "label": "Data source", "type": "datasource"}
    return {
        "uid": f"groundwire-{name}",
        "title": title,
        "tags": ["groundwire"],
        "schemaVersion": 39,
        "version": 1,
        "editable": True,
        "refresh": "30s",
        "time": {"from": "now-1h", "to": "now"},
        "templating": {"list": [chooser | {"query": "prometheus"}]},
        "panels": [_panel(number, panel) for number, panel in enumerate(panels)],
    }


def _rules(root: Path) -> str:
    content = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PrometheusRule",
        "metadata": {"name": "groundwire"},
        "spec": yaml.safe_load((root / ALERTS).read_text(encoding="utf-8")),
    }
    head = "# Written from alerts.yaml by `make fix`; change it there.\n"
    return head + yaml.safe_dump(content, sort_keys=False, width=1000)


def render(root: Path) -> dict[Path, str]:
    """The files."""
    boards = {
        FOLDER / "dashboards" / f"{name}.json": json.dumps(dashboard(name), indent=2) + "\n"
        for name in DASHBOARDS
    }
    return {RULES: _rules(root), **boards}
