"""Work that nothing else may touch is refused while services take messages from the bus."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest

from deploy.local.alone import ServicesRun, alone
from deploy.local.ports import free_port
from libs.contracts.subjects import PARSE, PIPELINE
from libs.runtime.routes import durable_name, full, stream_name
from libs.runtime.settings import Settings
from libs.runtime.streams import bootstrap
from tests.support.nats import nats_server
from tests.support.waiting import PATIENCE

PREFIX = "alone"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nats_server(Path(tmp_path_factory.mktemp("nats"))) as running:
        yield running


def settings(folder: Path, url: str) -> Settings:
    return Settings(_env_file=None, data_dir=folder, nats_url=url, prefix=PREFIX)  # type: ignore[call-arg]


async def _work(url: str, taking: threading.Event, enough: threading.Event) -> None:
    """A worker that waits for messages until it is told to end."""
    client = await nats.connect(url)
    await bootstrap(client.jetstream(timeout=30), PREFIX, ack_wait=5.0)
    puller = await client.jetstream(timeout=30).pull_subscribe(
        full(PREFIX, PARSE.subjects[0]), durable_name(PARSE), stream_name(PREFIX, PIPELINE)
    )
    fetching = asyncio.create_task(puller.fetch(1, timeout=PATIENCE))
    while not (await puller.consumer_info()).num_waiting:
        await asyncio.sleep(0.01)
    taking.set()
    await asyncio.to_thread(enough.wait, 30)
    fetching.cancel()
    await asyncio.gather(fetching, return_exceptions=True)
    await client.close()


def test_services_on_the_bus_are_seen_and_their_end_too(tmp_path: Path, url: str) -> None:
    taking, enough = threading.Event(), threading.Event()
    worker = threading.Thread(target=lambda: asyncio.run(_work(url, taking, enough)))
    worker.start()
    try:
        assert taking.wait(PATIENCE)
        with pytest.raises(ServicesRun, match="parser"), alone(settings(tmp_path, url), "a test"):
            pass
    finally:
        enough.set()
        worker.join()
    with alone(settings(tmp_path, url), "a test"):
        pass


def test_a_bus_that_is_away_is_no_obstacle(tmp_path: Path) -> None:
    away = f"nats://127.0.0.1:{free_port()}"
    with alone(settings(tmp_path, away), "a test"):
        pass


def test_two_of_them_exclude_each_other(tmp_path: Path, url: str) -> None:
    with alone(settings(tmp_path, url), "a rebuild"):
        with pytest.raises(ServicesRun, match="a rebuild"):
            with alone(settings(tmp_path, url), "a restore"):
                pass
