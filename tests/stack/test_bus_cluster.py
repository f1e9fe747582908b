"""Three nats-servers that are one bus, with TLS and credentials: one of them dies."""

import asyncio
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nats
import pytest

from deploy.local.ports import free_port
from libs.runtime.buslogin import login_of
from tests.support.nats import certificate, server_binary, wait_for_port
from tests.support.stack import running_stack
from tests.support.waiting import PATIENCE, until

USER, PASSWORD = "services", "p%40ss"
NODES = 3


@dataclass
class Cluster:
    """The servers by name, and what clients need."""

    certificate: Path
    ports: dict[str, int] = field(default_factory=dict)
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """One server alone, as a setting may name it: the others are learnt from it."""
        return f"tls://{USER}:{PASSWORD}@127.0.0.1:{next(iter(self.ports.values()))}"

    def kill_first(self) -> None:
        """Kill the server that clients were told of, to which they are connected."""
        process = next(iter(self.processes.values()))
        process.kill()
        process.wait(PATIENCE)

    def start(self, name: str, folder: Path) -> None:
        """Start a server over its store."""
        command = [server_binary(), "-c", str(folder / f"{name}.conf")]
        log = (folder / f"{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(command, stdout=log, stderr=log)
        wait_for_port(self.ports[name])


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("cluster")
    trusted, key = certificate(folder)
    names = [f"node-{number}" for number in range(NODES)]
    cluster = Cluster(trusted, {name: free_port() for name in names})
    routes = {name: free_port() for name in names}
    for name in names:
        config = {
            "server_name": name,
            "listen": f"127.0.0.1:{cluster.ports[name]}",
            "jetstream": {"store_dir": str(folder / name)},
            "tls": {"cert_file": str(trusted), "key_file": str(key)},
            "authorization": {"user": USER, "password": "p@ss"},
            "cluster": {
                "name": "bus",
                "listen": f"127.0.0.1:{routes[name]}",
                "routes": [f"nats://127.0.0.1:{port}" for port in routes.values()],
            },
        }
        (folder / f"{name}.conf").write_text(json.dumps(config))
    for name in names:
        cluster.start(name, folder)
    yield cluster
    for process in cluster.processes.values():
        process.kill()
        process.wait(PATIENCE)


async def connect(cluster: Cluster) -> nats.aio.client.Client:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(cluster.certificate))
        options = login_of(cluster.url).options()
    return await nats.connect(**options, connect_timeout=10)


async def has_quorum(cluster: Cluster) -> bool:
    """Whether the servers have found each other."""
    try:
        client = await connect(cluster)
    except (OSError, nats.errors.Error):
        return False
    try:
        await client.jetstream(timeout=2).account_info()
    except (nats.errors.Error, nats.js.errors.Error):
        return False
    else:
        return True
    finally:
        await client.close()


def test_a_node_that_dies_during_ingest_loses_nothing(cluster: Cluster) -> None:
    asyncio.run(until(lambda: has_quorum(cluster), what="a cluster"))
    with running_stack(
        GROUNDWIRE_NATS_URL=cluster.url,
        GROUNDWIRE_BUS_REPLICAS=str(NODES),
        GROUNDWIRE_EMBEDDER="none",
        GROUNDWIRE_RETRY_SECONDS="0.5",
        SSL_CERT_FILE=str(cluster.certificate),
    ) as stack:
        texts = {f"doc-{n}": f"# Title {n}\n\nBody of number {n}.\n" for n in range(8)}
        jobs = {}
        for number, (name, text) in enumerate(texts.items()):
            answer = stack.upload(f"{name}.md", text.encode(), document_id=name)
            jobs[name] = answer["job_id"]
            if number == 3:
                cluster.kill_first()
        for name, job_id in jobs.items():
            assert stack.wait(job_id, 120)["state"] == "published", name
            chunks = stack.get(f"/documents/{name}/chunks").json()["chunks"]
            assert texts[name].split("\n")[2] in chunks[-1]["content"]
