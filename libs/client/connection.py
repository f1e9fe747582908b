"""Where the service is and which key to show, found without being told, where possible.

Order: what the caller says, `GROUNDWIRE_*` variables (or `.env`), then what a stack that
was started on this machine left in its data folder.
"""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from dotenv import dotenv_values

DEFAULT_PORT = 8080


@dataclass(frozen=True)
class Connection:
    """An address, a key (None: send none) and the namespace that calls are about."""

    url: str
    key: str | None
    namespace: str


def _environment() -> Mapping[str, str | None]:
    return {**dotenv_values(".env"), **os.environ}


def _local_url(data_dir: Path) -> str | None:
    """The address that the running local stack noted."""
    try:
        url = json.loads((data_dir / "run" / "lock").read_text(encoding="utf-8"))["url"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return url if isinstance(url, str) else None


def _local_key(data_dir: Path) -> str | None:
    try:
        return (data_dir / "key").read_text(encoding="utf-8").strip() or None
    except OSError:
        return None


def find_connection(
    url: str | None = None, key: str | None = None, namespace: str | None = None
) -> Connection:
    """The connection to use, each part from the first place that has it."""
    environment = _environment()
    data_dir = Path(environment.get("GROUNDWIRE_DATA_DIR") or ".groundwire")
    url = url or environment.get("GROUNDWIRE_URL")
    if not url:
        if port := environment.get("GROUNDWIRE_HTTP_PORT"):
            url = f"http://127.0.0.1:{port}"
        else:
            url = _local_url(data_dir) or f"http://127.0.0.1:{DEFAULT_PORT}"
    return Connection(
        url=url.rstrip("/"),
        key=key or environment.get("GROUNDWIRE_API_KEY") or _local_key(data_dir),
        namespace=namespace or environment.get("GROUNDWIRE_NAMESPACE") or "default",
    )
