"""Catalog: Postgres, as the system's packages install it."""

import os
import pwd
import re
import secrets
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

from deploy.local.folder import write_private
from deploy.local.ports import LOOPBACK
from deploy.stack.running import Running, StartFailed, as_user, launch, noted_ports

USER = "groundwire"
DATABASE = "groundwire"
SYSTEM_USER = "postgres"
START_SECONDS = 60.0
TOOL_SECONDS = 120.0


class Postgres:
    """One cluster with one database and one owner of it, who may make further databases."""

    name = "postgres"

    def missing(self) -> list[str]:
        """The server's programs, and where this is root the user that runs them."""
        found = []
        if programs() is None:
            found.append("Postgres is not installed: apt-get install postgresql")
        if os.geteuid() == 0 and not _user_exists(SYSTEM_USER):
            found.append(
                f"Postgres refuses to run as root and there is no user {SYSTEM_USER}: "
                "apt-get install postgresql, or run this as another user"
            )
        return found

    def provision(self, cache: Path) -> None:
        """Nothing to do: the programs are the system's."""

    def start(self, cache: Path, data: Path) -> Running:
        """Start over `data`, which other users must be able to reach where this is root."""
        bin_folder = programs()
        if bin_folder is None:
            raise StartFailed(self.missing()[0])
        password = _password(data / "password")
        cluster = data / "cluster"
        if not (cluster / "PG_VERSION").exists():
            _initialise(bin_folder, cluster, password)
        port = noted_ports(data, "port")["port"]
        running = launch(
            self.name,
            [
                str(bin_folder / "postgres"), "-D", str(cluster), "-p", str(port),
                "-c", f"listen_addresses={LOOPBACK}", "-c", "unix_socket_directories=",
                "-c", "max_connections=200",
            ],
            data,
            user=SYSTEM_USER,
            death_signal=signal.SIGQUIT,
            stop_signal=signal.SIGINT,  # the fast one of its three: open sessions are ended
        )  # fmt: skip
        ask = _Asker(bin_folder, port, password)
        running.wait_until(ask.ready, START_SECONDS)
        try:
            ask.make_database()
        except BaseException:
            running.kill()
            raise
        running.settings = {
            "GROUNDWIRE_CATALOG_URL": f"postgresql://{USER}@{LOOPBACK}:{port}/{DATABASE}",
            "GROUNDWIRE_CATALOG_PASSWORD": password,
        }
        return running


@dataclass(frozen=True)
class _Asker:
    """The server's own client programs, as the owner."""

    programs: Path
    port: int
    password: str

    def ready(self) -> bool:
        """Whether the server takes connections."""
        return self._run("pg_isready", "-t", "2").returncode == 0

    def make_database(self) -> None:
        """Make the database unless it is there."""
        listed = self._checked("psql", "-d", "postgres", "-Atc", "SELECT datname FROM pg_database")
        if DATABASE not in listed.split():
            self._checked("createdb", DATABASE)

    def _checked(self, tool: str, *words: str) -> str:
        done = self._run(tool, *words)
        if done.returncode != 0:
            raise StartFailed(f"{tool} failed: {done.stderr.strip()}")
        return done.stdout

    def _run(self, tool: str, *words: str) -> "subprocess.CompletedProcess[str]":
        server = ["-h", LOOPBACK, "-p", str(self.port), "-U", USER]
        return subprocess.run(
            [str(self.programs / tool), *server, *words],
            env={**os.environ, "PGPASSWORD": self.password},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TOOL_SECONDS,
            check=False,
        )


def programs() -> Path | None:
    """The folder of the newest Postgres server on this machine."""
    versions = Path("/usr/lib/postgresql").glob("*/bin/postgres")
    found = sorted(versions, key=lambda path: _number(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("postgres")
    return Path(on_path).resolve().parent if on_path else None


def _number(name: str) -> float:
    return float(name) if re.fullmatch(r"\d+(\.\d+)?", name) else 0.0


def _user_exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _password(path: Path) -> str:
    """The owner's password: made once, kept beside the cluster for this user alone."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, secrets.token_hex(24))
    return path.read_text()


def _initialise(programs: Path, cluster: Path, password: str) -> None:
    """Make a cluster, whole or not at all: UTF-8, one order of text everywhere, passwords."""
    building = cluster.with_name(".cluster")
    shutil.rmtree(building, ignore_errors=True)
    building.mkdir(mode=0o700)
    note = cluster.with_name(".password")  # initdb opens it by name, with its own rights
    write_private(note, password)
    if os.geteuid() == 0:
        _let_through(cluster.parent)
        for path in (building, note):
            shutil.chown(path, SYSTEM_USER, SYSTEM_USER)
    done = subprocess.run(
        [
            *as_user(SYSTEM_USER), str(programs / "initdb"), "-D", str(building), "-U", USER,
            "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", f"--pwfile={note}",
            "--data-checksums",
        ],
        cwd=building.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TOOL_SECONDS,
        check=False,
    )  # fmt: skip
    note.unlink()
    if done.returncode != 0:
        raise StartFailed(f"initdb failed: {done.stderr.strip()}")
    building.rename(cluster)


def _let_through(data: Path) -> None:
    """Let the server's user pass through `data`; the folders above must do so already."""
    data.chmod(data.stat().st_mode | 0o011)
    for folder in data.resolve().parents:
        if not folder.stat().st_mode & 0o001:
            raise StartFailed(
                f"the user {SYSTEM_USER} cannot reach {data}, because {folder} is closed to "
                "other users: choose another data folder, or open it (chmod o+x)"
            )
