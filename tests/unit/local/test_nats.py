"""The local bus server, started for real."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import nats
import nats.errors
import pytest

from deploy.local.folder import DataFolder
from deploy.local.nats import NatsServer, prepare
from deploy.local.ports import LOOPBACK, answers
from tests.support.waiting import PATIENCE, wait_until


@pytest.fixture
def server(tmp_path: Path) -> Iterator[NatsServer]:
    folder = DataFolder(tmp_path)
    folder.make()
    made = prepare(folder)
    process = subprocess.Popen(
        [made.binary, "-c", made.config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: answers(LOOPBACK, made.port))
    yield made
    process.terminate()
    process.wait(PATIENCE)


async def test_only_who_knows_the_password_may_use_it(server: NatsServer) -> None:
    client = await nats.connect(server.url, allow_reconnect=False)
    assert (await client.jetstream().account_info()).streams == 0
    await client.close()

    async def ignore(_error: Exception) -> None:
        pass

    with pytest.raises(nats.errors.Error):
        await nats.connect(
            f"nats://{LOOPBACK}:{server.port}", allow_reconnect=False, error_cb=ignore
        )


def test_configuration_and_url_are_readable_for_this_user_alone(
    server: NatsServer, tmp_path: Path
) -> None:
    url = DataFolder(tmp_path).bus_url_file
    assert server.config.stat().st_mode & 0o777 == 0o600
    assert url.stat().st_mode & 0o777 == 0o600
    assert url.read_text().strip() == server.url
