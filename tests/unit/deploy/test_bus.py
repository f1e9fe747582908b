"""The configuration of the bus, read by a real nats-server, which lets each user in as itself."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest
from nats.errors import NoServersError
from nats.js.errors import APIError

from deploy.local.generated.nats_users import NAMESPACE, password_name
from deploy.local.generated.permissions import permissions
from deploy.local.house import ROOT
from deploy.local.ports import free_port
from libs.contracts.subjects import PARSE
from libs.runtime.buslogin import login_of
from libs.runtime.routes import durable_name, stream_name
from libs.runtime.streams import bootstrap
from tests.support.nats import server_binary, wait_for_port
from tests.support.waiting import PATIENCE, until

PASSWORDS = {password_name(user): f"of-{user}" for user in permissions()}


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files as they are, but for ports and the folder of the store."""
    folder = tmp_path_factory.mktemp("nats") / "config"
    shutil.copytree(ROOT / "deploy" / "nats", folder)
    file = folder / "nats.conf"
    text = file.read_text()
    for there, here in (
        ("0.0.0.0:4222", f"127.0.0.1:{free_port()}"),
        ("http: 0.0.0.0:8222", ""),
        ("store_dir: /data", f"store_dir: {json.dumps(str(folder / 'store'))}"),
    ):
        assert there in text
        text = text.replace(there, here)
    file.write_text(text)
    return file


@pytest.fixture(scope="module")
def url(config: Path) -> Iterator[str]:
    port = int(config.read_text().partition("127.0.0.1:")[2].split()[0])
    process = subprocess.Popen(
        [server_binary(), "-c", config],
        env={**os.environ, **PASSWORDS, "NATS_SERVER_NAME": "one"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_for_port(port)
    yield f"127.0.0.1:{port}"
    process.terminate()
    process.wait(PATIENCE)


def test_a_server_without_passwords_does_not_start(config: Path) -> None:
    bare = {k: v for k, v in os.environ.items() if not k.startswith("NATS_")}
    done = subprocess.run(
        [server_binary(), "-t", "-c", config], env=bare, capture_output=True, text=True
    )
    assert done.returncode != 0
    assert "NATS_" in done.stderr


async def test_each_user_does_its_own_work_and_no_other(url: str) -> None:
    admin = await nats.connect(**login_of(f"nats://bootstrap:of-bootstrap@{url}").options())
    await bootstrap(admin.jetstream(), "groundwire", ack_wait=30)
    await admin.close()

    refused: list[str] = []

    async def note(error: Exception) -> None:
        refused.append(str(error))

    login = login_of(f"nats://parser:of-parser@{url}").options()
    parser = await nats.connect(**login, error_cb=note)
    place = (stream_name("groundwire", PARSE.stream), durable_name(PARSE))
    info = await parser.jetstream().consumer_info(*place)
    assert info.num_pending == 0
    await parser.publish("groundwire.indexer.published.j.1", b"{}")
    await until(lambda: any("permissions violation" in text.lower() for text in refused))
    await parser.close()


async def test_a_tenant_asks_for_its_own_namespace_alone(url: str) -> None:
    refused: list[str] = []

    async def note(error: Exception) -> None:
        refused.append(str(error))

    tenant = await nats.connect(
        f"nats://upstream:of-upstream@{url}",
        inbox_prefix=f"_INBOX_upstream_{NAMESPACE}",
        error_cb=note,
    )
    ack = await tenant.jetstream().publish(f"groundwire.ingest.requested.{NAMESPACE}", b"{}")
    assert ack.stream == "groundwire-ingest"
    await tenant.publish("groundwire.ingest.requested.another", b"{}")
    await until(lambda: any("another" in text for text in refused))
    with pytest.raises((APIError, TimeoutError, nats.errors.Error)):
        await tenant.jetstream(timeout=0.5).stream_info("groundwire-pipeline")
    await tenant.close()


async def test_a_wrong_password_is_not_let_in(url: str) -> None:
    with pytest.raises((NoServersError, nats.errors.Error)):
        await nats.connect(
            f"nats://parser:of-chunker@{url}", allow_reconnect=False, connect_timeout=5
        )
