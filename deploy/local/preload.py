"""What all services import, imported once before they are forked.

Importing costs most of a start: seven fresh interpreters need five times the CPU time of
seven forks. Nothing here may start a thread, open a client or read settings. The list was
found by comparing `sys.modules` of ready services with the parent's; heavy libraries that
one service alone uses (docling, onnxruntime) must stay out.
"""

import gc
import importlib
import os

MODULES = (
    "faststream.nats",
    "faststream.nats.annotations",
    "uvloop",
    "uvicorn.lifespan.off",
    "uvicorn.loops.uvloop",
    "sqlalchemy.dialects.sqlite.pysqlite",
    "structlog",
    "snowballstemmer",
    "prometheus_client",
    "opentelemetry.sdk.trace.export",
    "libs.runtime.service",
    "libs.runtime.artefacts",
    "libs.runtime.catalog.sql.catalog",
    "libs.runtime.objects.file",
    "libs.runtime.objects.factory",
)
EXPORTER = "opentelemetry.exporter.otlp.proto.http.trace_exporter"


def one_thread_each() -> None:
    """No thread pools in numeric libraries, which read this as they are imported: with as many
    processes as cores, threads that wait for each other cost more than they bring."""
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(variable, "1")


def preload() -> None:
    """Import the set and freeze it, so that children share its memory."""
    one_thread_each()
    for module in MODULES:
        importlib.import_module(module)
    if any(name.startswith("OTEL_EXPORTER_OTLP") for name in os.environ):
        importlib.import_module(EXPORTER)
    gc.collect()
    gc.freeze()
