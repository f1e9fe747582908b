"""Graph: Neo4j Community, out of its jars."""

import secrets
import shutil
import socket
from pathlib import Path

from deploy.local.folder import write_private
from deploy.local.ports import LOOPBACK
from deploy.stack import java
from deploy.stack.cache import located, stamped
from deploy.stack.running import Running, StartFailed, launch, noted_ports

USER = "neo4j"
DATABASE = "neo4j"
HEAP = "512m"
OLDEST_JDK, NEWEST_JDK = 17, 21
START_SECONDS = 120.0

_POM = java.FILES / "neo4j" / "pom.xml"
_ADMIN = "org.neo4j.server.startup.Neo4jAdminCommand"
_MAIN = "org.neo4j.server.CommunityEntryPoint"
# the magic of Bolt and four versions that the client would speak
_HANDSHAKE = bytes.fromhex("6060b017 00080805 00000004 00000000 00000000")
_JVM = (
    f"-Xms{HEAP}", f"-Xmx{HEAP}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1",
    "-XX:+ExitOnOutOfMemoryError", "-XX:-OmitStackTraceInFastThrow", "-XX:+DisableExplicitGC",
    "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true", "-Dlog4j2.disable.jmx=true",
    "-Djdk.nio.maxCachedBufferSize=1024", "-Dio.netty.tryReflectionSetAccessible=true",
    "--add-opens=java.base/java.nio=ALL-UNNAMED", "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED",
)  # fmt: skip


class Neo4j:
    """One server with the one database that the Community edition has; Bolt alone listens."""

    name = "neo4j"

    def missing(self) -> list[str]:
        """JDK and Maven."""
        return java.missing_tools("Neo4j", OLDEST_JDK, NEWEST_JDK)

    def provision(self, cache: Path) -> None:
        """Fetch the jars."""
        home = _jdk()
        recipe = _POM.read_bytes()
        stamped(cache, self.name, recipe, lambda folder: java.fetch(_POM, folder / "lib", home))

    def start(self, cache: Path, data: Path) -> Running:
        """Start over `data`; its password is made at the first start and kept there."""
        jars = located(cache, self.name, _POM.read_bytes()) / "lib"
        if not jars.is_dir():
            raise StartFailed("Neo4j is not provisioned")
        port = noted_ports(data, "port")["port"]
        for name in ("conf", "data", "logs", "run", "import", "plugins"):
            (data / name).mkdir(exist_ok=True)
        (data / "conf" / "neo4j.conf").write_text(_configuration(port))
        command = [str(_jdk() / "bin" / "java"), *_JVM, "-cp", f"{jars}/*"]
        password = _password(command, data)
        running = launch(
            self.name,
            [*command, _MAIN, f"--home-dir={data}", f"--config-dir={data / 'conf'}"],
            data,
        )
        running.wait_until(lambda: _speaks_bolt(port), START_SECONDS)
        running.settings = {
            "GROUNDWIRE_GRAPH_URL": f"neo4j://{USER}@{LOOPBACK}:{port}/{DATABASE}?tls=false",
            "GROUNDWIRE_GRAPH_PASSWORD": password,
        }
        return running


def _jdk() -> Path:
    home = java.jdk(OLDEST_JDK, NEWEST_JDK)
    if home is None:
        raise StartFailed(java.missing_tools("Neo4j", OLDEST_JDK, NEWEST_JDK)[0])
    return home


def _configuration(port: int) -> str:
    return "\n".join(
        (
            f"server.default_listen_address={LOOPBACK}",
            f"server.bolt.listen_address={LOOPBACK}:{port}",
            f"server.bolt.advertised_address={LOOPBACK}:{port}",
            "server.http.enabled=false",
            "server.https.enabled=false",
            "dbms.security.auth_enabled=true",
            "dbms.usage_report.enabled=false",
            "server.memory.pagecache.size=64m",
            "db.tx_log.preallocate=false",
            "db.tx_log.rotation.retention_policy=1 files",
            "db.lock.acquisition.timeout=10s",
            "",
        )
    )


def _password(java_command: list[str], data: Path) -> str:
    """The password of the one user: set before the server's first start over `data`."""
    note = data / "password"
    if not note.exists():
        password = secrets.token_hex(24)
        shutil.rmtree(data / "data" / "dbms", ignore_errors=True)
        done = java.run(
            [*java_command, _ADMIN, "dbms", "set-initial-password", password],
            Path(java_command[0]).parent.parent,
            NEO4J_HOME=str(data),
            NEO4J_CONF=str(data / "conf"),
        )
        if done.returncode != 0:
            raise StartFailed(f"Neo4j's password could not be set: {done.stderr.strip()[:500]}")
        write_private(note, password)
    return note.read_text()


def _speaks_bolt(port: int) -> bool:
    """Whether the server answers the handshake."""
    try:
        with socket.create_connection((LOOPBACK, port), timeout=2.0) as connection:
            connection.settimeout(2.0)
            connection.sendall(_HANDSHAKE)
            return len(connection.recv(4, socket.MSG_WAITALL)) == 4
    except OSError:
        return False
