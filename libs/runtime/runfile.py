"""The note of a running service, by which others on the same machine find it."""

import json
import os
from pathlib import Path

from libs.runtime.telemetry import logger

log = logger("service")


def write_run_file(data: Path, stage: str, probe_port: int) -> None:
    """Note process id and probe port below the data folder; a folder that cannot be written is
    no reason not to serve."""
    folder = data / "run"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{stage}.{os.getpid()}"
        temporary.write_text(json.dumps({"pid": os.getpid(), "probe_port": probe_port}))
        temporary.replace(folder / f"{stage}.json")
    except OSError as error:
        log.warning("no run file", error=type(error).__name__)
