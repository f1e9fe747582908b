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


def test_a_forked_holder_is_named_by_the_process_that_would_fork_it_again() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        reading, writing = os.pipe()
        if (pid := os.fork()) == 0:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
        server.close()
        try:
            assert ports.holder_of(port) == pid
            assert f"held by process {os.getpid()}" in ports.taken_message(port)
        finally:
            os.close(writing)
            os.close(reading)
            os.waitpid(pid, 0)


def test_a_free_port_is_free() -> None:
    assert ports.is_free(ports.LOOPBACK, ports.free_port())


def test_the_address_is_one_that_this_machine_can_reach() -> None:
    assert address("127.0.0.1", 8080) == "http://127.0.0.1:8080"
    assert address("0.0.0.0", 80) == "http://127.0.0.1:80"
    assert address("::1", 8080) == "http://[::1]:8080"
