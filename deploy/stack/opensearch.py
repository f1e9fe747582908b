"""Search index: OpenSearch with the lucene k-NN engine, laid out from its Maven modules."""

import json
import re
import shutil
import urllib.request
import zipfile
from pathlib import Path
from urllib.error import URLError

from deploy.local.ports import LOOPBACK
from deploy.stack import java
from deploy.stack.cache import located, stamped
from deploy.stack.running import Running, StartFailed, launch, noted_ports

PREFIX = "groundwire"
HEAP = "1g"
OLDEST_JDK = 21
START_SECONDS = 180.0

_FILES = java.FILES / "opensearch"
_MODULES = {
    "transport-netty4": (
        "org.opensearch.transport.Netty4ModulePlugin", "",
        ("transport-netty4-client-*", "netty-*", "opensearch-netty4-*"),
    ),
    "lang-painless": (
        "org.opensearch.painless.PainlessModulePlugin", "",
        ("lang-painless-*", "opensearch-scripting-painless-spi-*", "antlr4-runtime-*", "asm-*"),
    ),
    "analysis-common": (
        "org.opensearch.analysis.common.CommonAnalysisModulePlugin", "lang-painless",
        ("analysis-common-*",),
    ),
    "mapper-extras": (
        "org.opensearch.index.mapper.MapperExtrasModulePlugin", "", ("mapper-extras-client-*",),
    ),
    "reindex": (
        "org.opensearch.index.reindex.ReindexModulePlugin", "",
        (
            "reindex-client-*", "opensearch-rest-client-*", "opensearch-ssl-config-*", "httpc*",
            "commons-codec-*", "commons-logging-*", "slf4j-api-*",
        ),
    ),
}  # fmt: skip
_FOR_KNN = ("guava-*", "failureaccess-*")
_UNWANTED = ("checker-qual", "j2objc", "jsr305", "listenablefuture", "error_prone", "jspecify")


class OpenSearch:
    """One node that is a cluster of its own, without security, on loopback."""

    name = "opensearch"

    def __init__(self, heap: str = HEAP) -> None:
        self._heap = heap

    def missing(self) -> list[str]:
        """JDK and Maven."""
        return java.missing_tools("OpenSearch", OLDEST_JDK)

    def provision(self, cache: Path) -> None:
        """Fetch the modules and lay them out as the server expects them."""
        home = _jdk()
        stamped(cache, self.name, _recipe(), lambda folder: _lay_out(folder, home))

    def start(self, cache: Path, data: Path) -> Running:
        """Start over `data`, by another user where this is root: the server refuses root."""
        home = located(cache, self.name, _recipe())
        if not home.is_dir():
            raise StartFailed("OpenSearch is not provisioned")
        port = noted_ports(data, "port")["port"]
        for name in ("config", "data", "logs", "tmp"):
            (data / name).mkdir(exist_ok=True)
        shutil.copy(home / "config" / "log4j2.properties", data / "config")
        (data / "config" / "opensearch.yml").write_text(_configuration(data, port))
        java.hand_over(data)
        running = launch(
            self.name,
            [
                str(_jdk() / "bin" / "java"), f"-Xms{self._heap}", f"-Xmx{self._heap}",
                "-XX:+UseG1GC", "-XX:-UsePerfData", "-XX:+ExitOnOutOfMemoryError",
                "--add-modules=jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED",
                "-Dfile.encoding=UTF-8", "-Djava.awt.headless=true",
                f"-Djava.io.tmpdir={data / 'tmp'}", "-Dlog4j2.disable.jmx=true",
                "-Dlog4j.shutdownHookEnabled=false", f"-Dopensearch.path.home={home}",
                f"-Dopensearch.path.conf={data / 'config'}", "-Dopensearch.distribution.type=tar",
                "-Dopensearch.bundled_jdk=false", "-cp", f"{home / 'lib'}/*",
                "org.opensearch.bootstrap.OpenSearch",
            ],
            data,
            user=java.UNPRIVILEGED,
            environment={"HOME": str(data)},
        )  # fmt: skip
        running.wait_until(lambda: _healthy(port), START_SECONDS)
        running.settings = {
            "GROUNDWIRE_INDEX_URL": f"opensearch://{LOOPBACK}:{port}/{PREFIX}?tls=false"
        }
        running.addresses = {"api": f"http://{LOOPBACK}:{port}"}
        return running


def _jdk() -> Path:
    home = java.jdk(OLDEST_JDK)
    if home is None:
        raise StartFailed(java.missing_tools("OpenSearch", OLDEST_JDK)[0])
    return home


def _recipe() -> bytes:
    """All that decides what is laid out."""
    files = sorted(path for path in _FILES.rglob("*") if path.is_file())
    return b"".join(path.read_bytes() for path in [*files, Path(__file__)])


def _configuration(data: Path, port: int) -> str:
    return "\n".join(
        (
            f"cluster.name: groundwire-{port}",
            "node.name: groundwire",
            f"network.host: {LOOPBACK}",
            f"http.port: {port}",
            "transport.port: 0",
            "discovery.type: single-node",
            f"path.data: {json.dumps(str(data / 'data'))}",
            f"path.logs: {json.dumps(str(data / 'logs'))}",
            # a full disk of the machine must not make a trial read-only
            "cluster.routing.allocation.disk.threshold_enabled: false",
            "action.auto_create_index: false",
            "",
        )
    )


def _lay_out(folder: Path, home: Path) -> None:
    """Fill `folder`: jars in `lib`, each module in a folder with a descriptor of its own."""
    for name in ("bin", "lib", "modules", "plugins", "extensions", "config", "logs"):
        (folder / name).mkdir()
    jars = folder / "jars"
    java.fetch(_FILES / "pom.xml", jars, home)
    version = _version()
    for name, (class_name, extends, patterns) in _MODULES.items():
        module = folder / "modules" / name
        module.mkdir()
        _move(jars, patterns, module)
        (module / "plugin-descriptor.properties").write_text(
            f"description={name}\nname={name}\nversion={version}\nopensearch.version={version}\n"
            f"classname={class_name}\nextended.plugins={extends}\njava.version={OLDEST_JDK}\n"
            "has.native.controller=false\n"
        )
    _add_knn(folder / "plugins" / "opensearch-knn", jars, home)
    for path in jars.glob("*.jar"):
        if not path.name.startswith(_UNWANTED):
            path.rename(folder / "lib" / path.name)
    shutil.rmtree(jars)
    shutil.copy(_FILES / "log4j2.properties", folder / "config")
    for path in folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _add_knn(plugin: Path, jars: Path, home: Path) -> None:
    """The k-NN plugin without the gRPC module that it extends: names alone stand in for it."""
    plugin.mkdir()
    with zipfile.ZipFile(next(jars.glob("opensearch-knn-*.zip"))) as archive:
        archive.extractall(plugin)
    _move(jars, _FOR_KNN, plugin)
    descriptor = plugin / "plugin-descriptor.properties"
    text = re.sub(
        r"(?m)^extended\.plugins=.*$", "extended.plugins=lang-painless", descriptor.read_text()
    )
    descriptor.write_text(text)
    classes = jars / "classes"
    sources = sorted(str(path) for path in (_FILES / "stub").glob("*.java"))
    stub = plugin / "transport-grpc-spi-stub.jar"
    for command in (
        ["javac", "--release", str(OLDEST_JDK), "-d", str(classes), *sources],
        ["jar", "--create", "--date=2000-01-01T00:00:00Z", "--file", str(stub),
         "-C", str(classes), "."],
    ):  # fmt: skip
        done = java.run([str(home / "bin" / command[0]), *command[1:]], home)
        if done.returncode != 0:
            raise StartFailed(f"{command[0]} failed: {done.stderr.strip()[:500]}")
    shutil.rmtree(classes)


def _move(jars: Path, patterns: tuple[str, ...], into: Path) -> None:
    """Move the jars that match; the server refuses one that is in two places."""
    for pattern in patterns:
        for path in jars.glob(f"{pattern}.jar"):
            path.rename(into / path.name)


def _version() -> str:
    found = re.search(
        r"<opensearch\.version>(.+?)</opensearch\.version>", (_FILES / "pom.xml").read_text()
    )
    if found is None:
        raise StartFailed("the pom of OpenSearch names no version")
    return found[1]


def _healthy(port: int) -> bool:
    """Whether the cluster has its shards and answers searches."""
    address = f"http://{LOOPBACK}:{port}/_cluster/health"
    try:
        with urllib.request.urlopen(address, timeout=2.0) as answer:
            return json.loads(answer.read())["status"] in {"green", "yellow"}
    except (URLError, OSError, ValueError, KeyError):
        return False
