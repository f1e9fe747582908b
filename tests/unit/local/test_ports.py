"""Ports: free or not, and who holds them."""

import os
import socket

from deploy.local import ports
from deploy.local.up import address


def test_a_held_port_is_not_free_and_its_holder_is_named() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        assert not ports.is_free(ports.LOOPBACK, port)
        assert ports.answers(ports.LOOPBACK, port)
        assert ports.holder_of(port) == os.getpid()
        message = ports.taken_message(port)
    assert f"port {port} is held by process {os.getpid()}" in message
    assert "pytest" in message
    assert "GROUNDWIRE_HTTP_PORT=" in message
    assert ports.is_free(ports.LOOPBACK, port)
    assert ports.holder_of(port) is None
    assert not ports.answers(ports.LOOPBACK, port)


def test_a_free_port_is_free() -> None:
    assert ports.is_free(ports.LOOPBACK, ports.free_port())


def test_the_address_is_one_that_this_machine_can_reach() -> None:
    assert address("127.0.0.1", 8080) == "http://127.0.0.1:8080"
    assert address("0.0.0.0", 80) == "http://127.0.0.1:80"
    assert address("::1", 8080) == "http://[::1]:8080"
