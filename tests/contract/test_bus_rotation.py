"""A password of the bus is changed under running services."""

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import nats
import nats.errors
import pytest

from deploy.local.ports import free_port
from libs.contracts.subjects import Stage
from libs.runtime import broker
from libs.runtime.probes import not_ready
from libs.runtime.service import Service
from libs.runtime.settings import Settings
from tests.support.nats import server_binary, wait_for_port
from tests.support.waiting import PATIENCE, until

CONFIG = """
listen: "127.0.0.1:{port}"
jetstream {{ store_dir: "{store}" }}
authorization {{ users: [ {{ user: planner, password: "{password}" }} ] }}
"""


@dataclass
class Server:
    """A server whose one user's password can be changed as it runs."""

    port: int
    folder: Path
    process: "subprocess.Popen[bytes] | None" = None

    @property
    def config(self) -> Path:
        return self.folder / "nats.conf"

    def write(self, password: str) -> None:
        given = {"port": self.port, "store": self.folder / "store", "password": password}
        self.config.write_text(CONFIG.format(**given))

    def change(self, password: str) -> None:
        assert self.process is not None
        self.write(password)
        self.process.send_signal(signal.SIGHUP)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(free_port(), tmp_path)
    made.write("old")
    command = [server_binary(), "-c", str(made.config)]
    made.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_port(made.port)
    yield made
    made.process.terminate()
    made.process.wait(PATIENCE)


def service_on(server: Server, password: str) -> Service:
    settings = Settings(
        nats_url=f"nats://planner:{password}@127.0.0.1:{server.port}",
        data_dir=server.folder,
        shutdown_seconds=0.2,
        _env_file=None,
    )  # type: ignore[call-arg]
    return Service(Stage.PLANNER, settings)


async def ready(service: Service) -> bool:
    return not await not_ready({"bus": service.checks["bus"]})


async def test_a_service_whose_password_is_no_longer_good_ends_to_be_started_anew(
    server: Server,
) -> None:
    service = service_on(server, "old")
    serving = asyncio.create_task(service.serve())
    await until(partial(ready, service), what="the connection")
    server.change("new")
    await asyncio.wait_for(serving, PATIENCE)
    assert service.cut_off
    again = service_on(server, "new")
    serving = asyncio.create_task(again.serve())
    await until(partial(ready, again), what="the connection with the new password")
    again.stopping.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert not again.cut_off


async def test_a_server_that_goes_away_for_a_while_is_waited_for(server: Server) -> None:
    service = service_on(server, "old")
    serving = asyncio.create_task(service.serve())
    await until(partial(ready, service), what="the connection")
    assert server.process is not None
    server.process.kill()
    server.process.wait(PATIENCE)
    await until(lambda: not service.bus.nats.is_connected, what="the end of the connection")
    server.process = subprocess.Popen(
        [server_binary(), "-c", str(server.config)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    await until(lambda: service.bus.nats.is_connected, what="the connection again")
    assert not serving.done()
    service.stopping.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert not service.cut_off


async def test_a_service_that_waits_for_the_bus_can_be_ended(tmp_path: Path) -> None:
    service = service_on(Server(free_port(), tmp_path), "any")
    serving = asyncio.create_task(service.serve())
    await asyncio.sleep(0)
    service.stopping.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert not service.cut_off


async def test_why_there_is_no_connection_is_told_once_in_a_while(
    monkeypatch: pytest.MonkeyPatch, server: Server, tmp_path: Path
) -> None:
    told: list[str] = []
    log = SimpleNamespace(warning=lambda _event, **fields: told.append(fields["detail"]))
    monkeypatch.setattr(broker, "log", log)
    with pytest.raises(nats.errors.Error, match="Authorization"):
        await asyncio.wait_for(service_on(server, "wrong").serve(), PATIENCE)
    (refused,) = told
    assert "Authorization Violation" in refused
    service = service_on(Server(free_port(), tmp_path), "any")
    serving = asyncio.create_task(service.serve())
    await until(lambda: len(told) > 1, what="a word about the missing server")
    service.stopping.set()
    await asyncio.wait_for(serving, PATIENCE)
    assert len(set(told)) == len(told)
