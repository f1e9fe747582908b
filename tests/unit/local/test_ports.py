"""Ports: free or not, and who holds them."""

import os
import socket
from pathlib import Path

import pytest

from deploy.local import ports
from deploy.local.up import address


def test_a_held_port_is_not_free_and_its_holder_is_named() -> None:
    with socket.create_server((ports.LOOPBACK, 0)) as server:
        port = server.getsockname()[1]
        assert ports.answers(ports.LOOPBACK, port)
        assert ports.holder_of(port) == os.getpid()
        message = ports.obstacle(ports.LOOPBACK, port) or ""
    assert f"port {port} is held by process {os.getpid()}" in message
    assert "pytest" in message
    assert "GROUNDWIRE_HTTP_PORT=" in message
    assert ports.obstacle(ports.LOOPBACK, port) is None
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
            message = ports.obstacle(ports.LOOPBACK, port) or ""
            assert f"held by process {os.getpid()}" in message
        finally:
            os.close(writing)
            os.close(reading)
            os.waitpid(pid, 0)


def test_free_ports_are_free_and_no_outgoing_connection_gets_them() -> None:
    low, high = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    chosen = ports.free_ports(20)
    assert len(set(chosen)) == 20
    assert not [port for port in chosen if int(low) <= port <= int(high)]
    assert {ports.obstacle(ports.LOOPBACK, port) for port in chosen} == {None}


def test_where_the_kernel_serves_every_port_it_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "_served_by_kernel", lambda: range(1024, 65536))
    assert ports.obstacle(ports.LOOPBACK, ports.free_port()) is None


def test_another_obstacle_than_a_holder_is_told_as_it_is() -> None:
    said = ports.obstacle("203.0.113.7", 8080) or ""
    assert said.startswith("nothing can listen on 203.0.113.7:8080: ")


def test_the_address_is_one_that_this_machine_can_reach() -> None:
    assert address("127.0.0.1", 8080) == "http://127.0.0.1:8080"
    assert address("0.0.0.0", 80) == "http://127.0.0.1:80"
    assert address("::1", 8080) == "http://[::1]:8080"
