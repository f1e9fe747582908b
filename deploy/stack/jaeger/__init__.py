"""Traces: Jaeger, built from source by Go; its API, without the page it has elsewhere."""

import json
import os
import platform
import shutil
import signal
import subprocess
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from deploy.local.ports import LOOPBACK
from deploy.stack.cache import located, stamped
from deploy.stack.running import Running, StartFailed, launch, noted_ports

START_SECONDS = 30.0
BUILD_SECONDS = 3600.0

_SOURCE = Path(__file__).parent
_PACKAGE = "github.com/jaegertracing/jaeger/cmd/jaeger"
_PORTS = ("JAEGER_OTLP", "JAEGER_QUERY", "JAEGER_QUERY_GRPC", "JAEGER_HEALTH")
_BUILD = ("build", "-trimpath", "-buildvcs=false", "-p=2", "-ldflags=-s -w")


class Jaeger:
    """Keeps traces in memory, so a start begins with none."""

    name = "jaeger"

    def missing(self) -> list[str]:
        """Go."""
        return [] if shutil.which("go") else ["Jaeger is built by Go: install Go 1.26 or newer"]

    def provision(self, cache: Path) -> None:
        """Build, with low priority: about 8 CPU minutes the first time, nothing later."""
        stamped(cache, self.name, _recipe(), _build)

    def start(self, cache: Path, data: Path) -> Running:
        """Start; `addresses["query"]` is the API."""
        data.mkdir(parents=True, exist_ok=True)
        ports = noted_ports(data, *_PORTS)
        running = launch(
            self.name,
            [
                str(located(cache, self.name, _recipe()) / "jaeger"),
                "--config", str(_SOURCE / "config.yaml"),
            ],
            data,
            environment={name: str(port) for name, port in ports.items()},
            death_signal=signal.SIGTERM,
        )  # fmt: skip
        running.wait_until(lambda: _healthy(ports["JAEGER_HEALTH"]), START_SECONDS)
        query = f"http://{LOOPBACK}:{ports['JAEGER_QUERY']}"
        running.settings = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://{LOOPBACK}:{ports['JAEGER_OTLP']}",
            "GROUNDWIRE_TRACE_URL": f"{query}/api/traces/{{trace_id}}",
        }
        running.addresses = {"query": query}
        return running


def _recipe() -> bytes:
    """All that decides the program: the locked sources, the stand-in, the machine's kind."""
    files = [_SOURCE / "go.mod", _SOURCE / "go.sum", *sorted(_SOURCE.rglob("*.go"))]
    parts = [path.read_bytes() for path in files]
    return b"\0".join([*parts, *(word.encode() for word in _BUILD), platform.machine().encode()])


def _build(folder: Path) -> None:
    go = shutil.which("go")
    if go is None:
        raise StartFailed(Jaeger().missing()[0])
    try:
        done = subprocess.run(
            ["nice", "-n", "19", go, *_BUILD, "-o", str(folder / "jaeger"), _PACKAGE],
            cwd=_SOURCE,
            env={**os.environ, "GOFLAGS": "-mod=readonly", "CGO_ENABLED": "0"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=BUILD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise StartFailed(f"Jaeger is not built after {BUILD_SECONDS:g} s") from None
    if done.returncode != 0:
        raise StartFailed(f"Jaeger cannot be built: {done.stderr.strip()[-2000:]}")


def _healthy(port: int) -> bool:
    try:
        with urlopen(f"http://{LOOPBACK}:{port}/status", timeout=2.0) as answer:
            return bool(json.load(answer).get("status") == "StatusOK")
    except (URLError, OSError, ValueError):
        return False
