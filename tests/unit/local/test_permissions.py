"""The generated NATS permissions, tried on a real server."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import nats
import pytest
from nats.aio.client import Client
from nats.js.errors import APIError

from deploy.local.generated.permissions import permissions
from deploy.local.ports import free_port
from libs.contracts.subjects import CONSUMERS, Stage
from libs.runtime.buslogin import inbox_of, login_of
from libs.runtime.routes import durable_name, stream_name
from libs.runtime.streams import bootstrap
from tests.support.nats import server_binary, wait_for_port
from tests.support.waiting import PATIENCE, until

PREFIX = "groundwire"
NAMESPACE = "acme"
INBOXES = {"upstream": f"_INBOX_upstream_{NAMESPACE}", "bucket": "_INBOX"}
"""Of clients that are not ours."""


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("nats")
    filled = json.loads(json.dumps(permissions()).replace("{namespace}", NAMESPACE))
    users = [
        {"user": name, "password": name, "permissions": allowed} for name, allowed in filled.items()
    ]
    number = free_port()
    config = folder / "nats.conf"
    config.write_text(
        json.dumps(
            {
                "listen": f"127.0.0.1:{number}",
                "jetstream": {"store_dir": str(folder / "store")},
                "authorization": {"users": users},
            }
        )
    )
    process = subprocess.Popen(
        [server_binary(), "-c", config], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for_port(number)

    async def prepare() -> None:
        async with connected(number, "bootstrap") as (client, denied):
            await bootstrap(client.jetstream(), PREFIX, ack_wait=30.0)
            assert not denied

    asyncio.run(prepare())
    yield number
    process.terminate()
    process.wait(PATIENCE)


@asynccontextmanager
async def connected(port: int, user: str) -> AsyncIterator[tuple[Client, list[str]]]:
    """A client of a user, and what the server denied it so far."""
    denied: list[str] = []

    async def on_error(error: Exception) -> None:
        denied.append(str(error))

    login = login_of(f"nats://{user}:{user}@127.0.0.1:{port}").options()
    inbox = {"inbox_prefix": INBOXES.get(user, login["inbox_prefix"])}
    client = await nats.connect(**{**login, **inbox}, error_cb=on_error, allow_reconnect=False)
    try:
        yield client, denied
    finally:
        await client.close()


async def denied_publish(port: int, user: str, subject: str) -> bool:
    async with connected(port, user) as (client, denied):
        await client.publish(subject, b"{}")
        await client.flush()
        await asyncio.wait_for(client.flush(), PATIENCE)
        return any("permissions violation" in text.lower() for text in denied)


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda consumer: consumer.durable)
async def test_a_service_pulls_and_acknowledges_its_own_durables(port: int, consumer) -> None:
    async with connected(port, consumer.stage) as (client, denied):
        subscription = await client.jetstream().pull_subscribe_bind(
            durable_name(consumer), stream_name(PREFIX, consumer.stream)
        )
        with pytest.raises(TimeoutError):
            await subscription.fetch(1, timeout=0.05)
        assert not denied


async def test_an_event_goes_from_its_sender_to_its_hearer(port: int) -> None:
    async with connected(port, "gateway") as (client, denied):
        await client.jetstream().publish(f"{PREFIX}.gateway.accepted.job-1.1", b"{}")
        assert not denied
    async with connected(port, "profiler") as (client, denied):
        subscription = await client.jetstream().pull_subscribe_bind(
            "profiler", stream_name(PREFIX, "pipeline")
        )
        [message] = await subscription.fetch(1, timeout=PATIENCE)
        await message.ack_sync(timeout=PATIENCE)
        assert not denied


@pytest.mark.parametrize(
    ("user", "subject"),
    [
        ("parser", f"{PREFIX}.indexer.published.job-1.1"),
        ("chunker", f"{PREFIX}.parser.parsed.job-1.1"),
        ("profiler", f"{PREFIX}.control.cancel.job-1"),
        ("parser", f"{PREFIX}.dead.chunker.letter-1"),
        ("retriever", f"{PREFIX}.search.ran.default"),
        ("parser", "$JS.API.STREAM.DELETE.groundwire-pipeline"),
        ("gateway", "$JS.API.STREAM.PURGE.groundwire-pipeline"),
        ("upstream", f"{PREFIX}.ingest.requested.other"),
        ("upstream", f"{PREFIX}.document.published.{NAMESPACE}.doc-1"),
        ("bucket", f"{PREFIX}.ingest.requested.{NAMESPACE}"),
    ],
)
async def test_nobody_speaks_for_another(port: int, user: str, subject: str) -> None:
    assert await denied_publish(port, user, subject)


async def test_a_service_may_not_pull_anothers_durable(port: int) -> None:
    async with connected(port, "chunker") as (client, denied):
        subscription = await client.jetstream().pull_subscribe_bind(
            "parser", stream_name(PREFIX, "pipeline")
        )
        with pytest.raises((TimeoutError, APIError)):
            await subscription.fetch(1, timeout=0.2)
        await until(lambda: denied, what="the denial")


@pytest.mark.parametrize("user", sorted(permissions()))
async def test_nobody_hears_what_is_answered_to_another(port: int, user: str) -> None:
    """Pulled messages and answers of everybody come to inboxes."""
    others = [name for name in permissions() if name != user]
    inboxes = [f"{INBOXES.get(one, inbox_of(one))}.>" for one in others]
    asked = {">", "*.>", "_INBOX_upstream_other.>", *inboxes}
    async with connected(port, user) as (client, denied):
        for subject in asked:
            await client.subscribe(subject)
            await client.flush()
        await until(lambda: len(denied) == len(asked), what="the denials")


async def test_a_tenant_asks_and_hears_for_its_own_namespace(port: int) -> None:
    async with connected(port, "upstream") as (client, denied):
        heard = await client.subscribe(f"{PREFIX}.document.*.{NAMESPACE}.*")
        await client.subscribe(f"{PREFIX}.document.*.other.*")
        await until(lambda: denied, what="the denial")
        await client.jetstream().publish(f"{PREFIX}.ingest.requested.{NAMESPACE}", b"{}")
        async with connected(port, "gateway") as (gateway, _):
            await gateway.publish(f"{PREFIX}.document.published.{NAMESPACE}.doc-1", b"{}")
            await gateway.flush()
        assert (await heard.next_msg(timeout=PATIENCE)).subject.endswith("doc-1")
        assert len(denied) == 1


async def test_requests_are_answered_across_users(port: int) -> None:
    pairs = (("planner", "retriever", "query.retrieve"), ("gateway", "planner", "query.plan"))
    for asking, answering, subject in pairs:
        async with connected(port, answering) as (server, denied):

            async def reply(message) -> None:
                await message.respond(b"here")

            await server.subscribe(f"{PREFIX}.{subject}", cb=reply)
            await server.flush()
            async with connected(port, asking) as (client, _):
                answer = await client.request(f"{PREFIX}.{subject}", b"?", timeout=PATIENCE)
            assert answer.data == b"here"
            assert not denied


async def test_the_planner_has_its_bucket_and_nobody_elses(port: int) -> None:
    async with connected(port, "planner") as (client, denied):
        bucket = await client.jetstream().key_value(f"{PREFIX}-searches")
        await bucket.put("a", b"1")
        assert (await bucket.get("a")).value == b"1"
        assert not denied
    assert await denied_publish(port, "retriever", f"$KV.{PREFIX}-searches.a")


def test_every_service_has_permissions() -> None:
    assert set(Stage) <= set(permissions())


def test_the_file_is_what_the_catalogue_says() -> None:
    root = Path(__file__).resolve().parents[3]
    assert json.loads((root / "deploy/nats/permissions.json").read_text()) == permissions()
