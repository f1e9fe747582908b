"""`make stack`: real servers, and the seven services against them, until Ctrl-C.

Data lies below the stack's own folder, beside the one of `make run`, and is kept.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from deploy.stack.cache import cache_folder
from deploy.stack.running import StartFailed
from deploy.stack.server import Server
from deploy.stack.servers import SERVERS

DATA_DIR = ".groundwire-stack"
SERVERS_DATA, SERVICES_DATA = "servers", "services"


def missing(servers: tuple[Server, ...] = SERVERS) -> list[str]:
    """What this machine lacks for the stack, with the way to get it."""
    return [sentence for server in servers for sentence in server.missing()]


def provision(servers: tuple[Server, ...] = SERVERS) -> None:
    """Put all programs into the cache: minutes the first time, seconds later."""
    for server in servers:
        print(f"provisioning {server.name}", flush=True)
        server.provision(cache_folder())


@contextmanager
def started(data: Path, servers: tuple[Server, ...] = SERVERS) -> Iterator[dict[str, str]]:
    """The settings that make services use these servers; all are stopped afterwards."""
    settings: dict[str, str] = {}
    with ExitStack() as running:
        for server in servers:
            one = server.start(cache_folder(), data / server.name)
            running.callback(one.stop)
            settings |= one.settings
            for name, address in one.addresses.items():
                print(f"{server.name} {name}: {address}", flush=True)
        yield settings


def up() -> int:
    """Run everything until SIGINT or SIGTERM; the number to exit with."""
    if lacking := missing():
        print("\n".join(lacking), file=sys.stderr)
        return 1
    root = data_folder()
    root.mkdir(parents=True, exist_ok=True)
    if os.geteuid() == 0:
        root.chmod(root.stat().st_mode | 0o011)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        provision()
        with started(root / SERVERS_DATA) as settings:
            return _services(root / SERVICES_DATA, settings)
    except StartFailed as failed:
        print(failed, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _services(data: Path, settings: dict[str, str]) -> int:
    command = [sys.executable, "-m", "libs.client.cli.app", "up"]
    environment = {**os.environ, **settings, "GROUNDWIRE_DATA_DIR": str(data)}
    with subprocess.Popen(command, env=environment, start_new_session=True) as services:
        try:
            return services.wait()
        except KeyboardInterrupt:
            services.send_signal(signal.SIGTERM)
            return services.wait()


def data_folder() -> Path:
    """Where the stack keeps its data."""
    return Path(os.environ.get("GROUNDWIRE_DATA_DIR", DATA_DIR)).absolute()


def clear() -> None:
    """Remove the stack's data, not the programs, and nothing else that lies beside it."""
    for part in (SERVERS_DATA, SERVICES_DATA):
        shutil.rmtree(data_folder() / part, ignore_errors=True)


def main(words: list[str]) -> int:
    """`up` (also without words), `provision`, `missing` or `clear`."""
    match words:
        case [] | ["up"]:
            return up()
        case ["missing"]:
            print("\n".join(missing()))
            return int(bool(missing()))
        case ["provision"]:
            if missing():
                return main(["missing"])
            provision()
            return 0
        case ["clear"]:
            clear()
            return 0
        case _:
            print("python -m deploy.stack.up [up|provision|missing|clear]", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
