"""`docs/metrics.md`: every metric of ours, with its type, labels and unit, for people."""

import importlib
from pathlib import Path

from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase

TARGET = Path("docs/metrics.md")
MODULES = ("libs.runtime.telemetry", "services.gateway.http.observe", "services.gateway.watch")
"""Where metrics are made."""

_HEAD = """# Metrics

Written from the code by `make fix`; change it there. Every service answers `/metrics` on its
probe port, the gateway on its own as well. Times are in seconds, sizes in bytes, ratios from 0
to 1. A counter's samples end in `_total`, those of a histogram in `_bucket`, `_sum` and `_count`.
Gauges of the bus are told alike by every gateway: take the maximum. Beside these are those of
the process (`process_resident_memory_bytes`, `process_cpu_seconds_total`…).

| metric | type | labels | meaning |
| --- | --- | --- | --- |
"""


def metrics() -> list[tuple[str, str, tuple[str, ...], str]]:
    """Name, type, labels and meaning of each metric, by name."""
    for module in MODULES:
        importlib.import_module(module)
    return sorted(
        (metric.name, metric.type, made._labelnames, metric.documentation)
        for made in {id(c): c for c in REGISTRY._names_to_collectors.values()}.values()
        if isinstance(made, MetricWrapperBase)
        for metric in made.describe()
        if metric.name.startswith("groundwire_")
    )


def render(_root: Path) -> dict[Path, str]:
    """The page."""
    rows = (
        f"| `{name}{'_total' * (kind == 'counter')}` | {kind} |"
        f" {', '.join(f'`{label}`' for label in labels)} | {meaning} |\n"
        for name, kind, labels, meaning in metrics()
    )
    return {TARGET: _HEAD + "".join(rows)}
