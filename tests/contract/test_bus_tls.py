"""`tls://` in the bus's URL is an order: without TLS nothing of the credentials is said."""

import asyncio
import json
import ssl
import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import nats
import nats.errors
import pytest
from faststream.nats import NatsBroker

from deploy.local.ports import free_port
from libs.runtime.buslogin import TlsLacking, login_of
from tests.support.nats import certificate, server_binary, wait_for_port
from tests.support.waiting import PATIENCE, until

SECRETS = ["me:xyzzy@", "xyzzy@", ""]


@pytest.fixture
async def listener() -> AsyncIterator[tuple[int, bytearray]]:
    """Somebody in the server's place who offers no TLS; what clients said to it."""
    heard = bytearray()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        info = {"server_id": "x", "version": "2.15.1", "max_payload": 1 << 20, "headers": True}
        writer.write(f"INFO {json.dumps(info | {'auth_required': True})}\r\n".encode())
        while piece := await reader.read(1 << 16):
            heard.extend(piece)
            writer.write(b"PONG\r\n" * piece.count(b"PING"))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1], heard
    server.close()


@pytest.mark.parametrize("secret", SECRETS)
async def test_who_offers_no_tls_is_told_nothing(
    listener: tuple[int, bytearray], secret: str
) -> None:
    port, heard = listener
    login = login_of(f"tls://{secret}127.0.0.1:{port}")
    with pytest.raises(TlsLacking, match="offers no TLS"):
        await nats.connect(**login.options(), allow_reconnect=False)
    assert bytes(heard) == b""


async def test_a_broker_tells_nothing_either(listener: tuple[int, bytearray]) -> None:
    port, heard = listener
    told: list[Exception] = []

    async def on_error(error: Exception) -> None:
        told.append(error)

    options = login_of(f"tls://me:xyzzy@127.0.0.1:{port}").broker()
    broker = NatsBroker(**options, logger=None, error_cb=on_error, reconnect_time_wait=0)
    connecting = asyncio.create_task(broker.connect())
    await until(lambda: any(isinstance(error, TlsLacking) for error in told))
    connecting.cancel()
    await asyncio.gather(connecting, return_exceptions=True)
    assert bytes(heard) == b""


@pytest.fixture(scope="module", params=SECRETS)
def secured(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Path]]:
    """A server with TLS: a URL, and the certificate to trust."""
    folder = tmp_path_factory.mktemp("tls")
    trusted, key = certificate(folder)
    port = free_port()
    known = {
        "me:xyzzy@": {"user": "me", "password": "xyzzy"}, "xyzzy@": {"token": "xyzzy"}, "": None,
    }[request.param]  # fmt: skip
    config = {
        "listen": f"127.0.0.1:{port}",
        "tls": {"cert_file": str(trusted), "key_file": str(key)},
        **({"authorization": known} if known else {}),
    }
    (folder / "nats.conf").write_text(json.dumps(config))
    process = subprocess.Popen(
        [server_binary(), "-c", folder / "nats.conf"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    wait_for_port(port)
    yield f"tls://{request.param}127.0.0.1:{port}", trusted
    process.kill()
    process.wait(PATIENCE)


async def test_a_server_with_a_trusted_certificate_is_used(
    secured: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, trusted = secured
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))
    client = await nats.connect(**login_of(url).options(), allow_reconnect=False)
    await client.flush(5)
    await client.close()
    broker = NatsBroker(**login_of(url).broker(), logger=None)
    assert await (await broker.connect()).flush(5) is None
    await broker.stop()


async def test_a_server_whose_certificate_nobody_vouches_for_is_refused(
    secured: tuple[str, Path],
) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        await nats.connect(**login_of(secured[0]).options(), allow_reconnect=False)
