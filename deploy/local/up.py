"""`groundwire up`: the bus, the bootstrap and the seven services, until Ctrl-C."""

import http.client
import importlib
import os
import signal
import time
from collections.abc import Callable

from deploy.local import nats
from deploy.local.folder import DataFolder, FolderTaken
from deploy.local.key import local_key
from deploy.local.logs import ErrorTail, last_lines, rotate
from deploy.local.ports import LOOPBACK, answers, free_port, obstacle
from deploy.local.preload import preload
from deploy.local.process import Child
from deploy.local.screen import Screen, Welcome
from deploy.local.supervisor import Supervisor
from libs.contracts.subjects import Stage
from libs.runtime.settings import Settings

BUS = "nats-server"
BUS_SECONDS = 10.0
BOOTSTRAP_SECONDS = 60.0
PATIENCE_SECONDS = 30.0
KILL_GRACE = 1.0  # seconds over `shutdown_seconds` before a service is killed


class StartFailed(Exception):
    """The start cannot go on; the message says why."""


def service_main(stage: str) -> Callable[[], None]:
    """What a forked child runs to be one service."""

    def run() -> None:
        importlib.import_module(f"services.{stage}.app").main()

    return run


def ready_at(port: int) -> bool:
    """Whether the service that answers its probes there says that it can work."""
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=1.0)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def is_ready(folder: DataFolder, child: Child) -> bool:
    """Whether this very process, not one before it, is ready."""
    note = folder.noted(child.name)
    return note is not None and note[0] == child.pid and ready_at(note[1])


class Stack:
    """One local stack: its folder, its processes, and what it says of them."""

    def __init__(self, settings: Settings, folder: DataFolder, screen: Screen) -> None:
        self._settings = settings
        self._folder = folder
        self._screen = screen

    def child(self, name: str, run: Callable[[], None]) -> Child:
        """A child with a log of its own, cut to size."""
        log = self._folder.logs / f"{name}.log"
        rotate(log)
        return Child(name=name, run=run, log=log)

    def start_bus(self, supervisor: Supervisor) -> Callable[[], bool]:
        """Start the own bus server, unless one is given; tells afterwards whether it answers."""
        if self._settings.nats_url:
            return lambda: True
        server = nats.prepare(self._folder)
        os.environ["GROUNDWIRE_NATS_URL"] = server.url
        child = self.child(BUS, server.run)
        child.death_signal = signal.SIGTERM
        supervisor.start(child, rank=0)
        return lambda: answers(LOOPBACK, server.port)

    def wait_for_bus(self, supervisor: Supervisor, up: Callable[[], bool]) -> None:
        """Until the bus answers. Raises `StartFailed`."""
        deadline = time.monotonic() + BUS_SECONDS
        while not up() and not supervisor.asked_to_stop:
            if time.monotonic() > deadline:
                raise StartFailed(self._why(BUS))
            supervisor.tick(0.02)

    def bootstrap(self, supervisor: Supervisor) -> None:
        """Tables, streams and key, made in a child that ends. Raises `StartFailed`."""

        def run() -> None:
            from deploy.local.bootstrap import bootstrap

            bootstrap(Settings())

        child = self.child("bootstrap", run)
        child.keep = False
        done = supervisor.run_once(child, BOOTSTRAP_SECONDS)
        if not done and not supervisor.asked_to_stop:
            raise StartFailed(self._why(child.name))

    def start_services(self, supervisor: Supervisor) -> list[Child]:
        """Fork the seven."""
        services = [self.child(stage, service_main(stage)) for stage in Stage]
        for service in services:
            supervisor.start(service)
        return services

    def wait_for_services(self, supervisor: Supervisor, services: list[Child]) -> None:
        """Until all are ready; says once which are not when it takes long."""
        waiting = list(services)
        patience = time.monotonic() + PATIENCE_SECONDS
        while waiting and not supervisor.asked_to_stop:
            supervisor.tick(0.1)
            waiting = [service for service in waiting if not is_ready(self._folder, service)]
            if waiting and time.monotonic() > patience:
                patience = float("inf")
                for service in waiting:
                    self._screen.trouble(self._why(service.name))

    def watch(self, supervisor: Supervisor) -> None:
        """Keep all running and tell of errors, until a signal asks for the end."""
        logs = {child.name: child.log for child in supervisor.children}
        tail = ErrorTail(logs, self._screen.trouble)
        while not supervisor.asked_to_stop:
            supervisor.tick(1.0)
            tail.look()

    def _why(self, name: str) -> str:
        log = self._folder.logs / f"{name}.log"
        end = "\n".join(f"  {line}" for line in last_lines(log))
        return f"{name} did not come up so far; the end of {log} says:\n{end or '  (nothing)'}"


def address(host: str, port: int) -> str:
    """The URL by which this machine reaches a server that listens there."""
    if host in {"0.0.0.0", "::", ""}:  # noqa: S104
        host = LOOPBACK
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _hand_down(folder: DataFolder, port: int) -> None:
    """What every service must read alike, whatever folder or port was chosen."""
    os.environ["GROUNDWIRE_DATA_DIR"] = str(folder.root)
    os.environ["GROUNDWIRE_HTTP_PORT"] = str(port)
    os.environ["GROUNDWIRE_PROBE_PORT"] = "0"


def _run(
    settings: Settings, folder: DataFolder, screen: Screen, supervisor: Supervisor, url: str
) -> None:
    began = time.monotonic()
    stack = Stack(settings, folder, screen)
    folder.forget_runs()
    bus_is_up = stack.start_bus(supervisor)
    preload()
    stack.wait_for_bus(supervisor, bus_is_up)
    if not supervisor.asked_to_stop:
        stack.bootstrap(supervisor)
    if not supervisor.asked_to_stop:
        services = stack.start_services(supervisor)
        stack.wait_for_services(supervisor, services)
    if not supervisor.asked_to_stop:
        screen.welcome(
            Welcome(
                url=url,
                key=local_key(settings, folder),
                namespace=settings.namespace,
                data_dir=folder.root,
                seconds=time.monotonic() - began,
            )
        )
        stack.watch(supervisor)
    screen.news("ending all processes")


def up(settings: Settings) -> int:
    """Run the stack until SIGINT or SIGTERM; the number to exit with."""
    screen = Screen()
    folder = DataFolder(settings.data_dir.absolute())
    port = settings.http_port or free_port(settings.http_host)
    if trouble := obstacle(settings.http_host, port):
        screen.trouble(trouble)
        return 1
    url = address(settings.http_host, port)
    try:
        folder.make()
        lock = folder.lock(url)
    except FolderTaken as taken:
        screen.trouble(str(taken))
        return 1
    except OSError as error:
        screen.trouble(
            f"the data folder {folder.root} cannot be used ({error.strerror}): "
            "choose another one with GROUNDWIRE_DATA_DIR"
        )
        return 1
    _hand_down(folder, port)
    screen.news("starting the bus and seven services")
    try:
        stop_seconds = settings.shutdown_seconds + KILL_GRACE
        with lock, Supervisor(stop_seconds=stop_seconds, say=screen.trouble) as supervisor:
            _run(settings, folder, screen, supervisor, url)
    except (StartFailed, nats.NatsMissing) as failed:
        screen.trouble(str(failed))
        return 1
    return 0
