"""Java servers: which JDKs are here, jars by Maven, and data folders of another user."""

import os
import pwd
import re
import shutil
import subprocess
from pathlib import Path

from deploy.stack.running import StartFailed

UNPRIVILEGED = "nobody"
MAVEN_SECONDS = 600.0
TOOL_SECONDS = 180.0
FILES = Path(__file__).parent / "maven"

_COPY = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_TRIES = 3


def jdk(oldest: int, newest: int | None = None) -> Path | None:
    """The home of a JDK between two feature versions, the newest that fits; None when none does.

    Looked for in `JAVA_HOME`, where systems keep their JDKs, and behind `java` on the path.
    """
    homes = [Path(home) for home in [os.environ.get("JAVA_HOME")] if home]
    homes += sorted(Path("/usr/lib/jvm").glob("*/"))
    homes += sorted(Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home/"))
    if program := shutil.which("java"):
        homes.append(Path(program).resolve().parent.parent)
    fitting = [
        (version, home)
        for home in homes
        if (version := _version(home)) >= oldest and (newest is None or version <= newest)
    ]
    return max(fitting)[1] if fitting else None


def _version(home: Path) -> int:
    """The feature version of the JDK in `home`, 0 for what is none."""
    if not ((home / "bin" / "java").exists() and (home / "bin" / "javac").exists()):
        return 0
    try:
        release = (home / "release").read_text()
    except OSError:
        return 0
    found = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', release, re.MULTILINE)
    return int(found[1]) if found else 0


def missing_tools(server: str, oldest: int, newest: int | None = None) -> list[str]:
    """A sentence for each of JDK and Maven that is not here."""
    found = []
    if jdk(oldest, newest) is None:
        wanted = f"JDK {oldest}" + (" or newer" if newest is None else f" to {newest}")
        found.append(f"{server} needs a {wanted}: install one, or set JAVA_HOME")
    if shutil.which("mvn") is None:
        found.append(f"{server} is fetched by Maven: apt-get install maven")
    return found


def fetch(pom: Path, into: Path, home: Path) -> None:
    """Copy the jars that `pom` depends on into a folder; raises `StartFailed`.

    A download that broke off is tried again.
    """
    command = [
        "mvn", "-B", "-q", "-f", str(pom), _COPY,
        f"-DoutputDirectory={into}", "-DincludeScope=runtime",
    ]  # fmt: skip
    for _ in range(_TRIES):
        done = run(command, home, MAVEN_SECONDS)
        if done.returncode == 0:
            return
    said = (done.stdout + done.stderr).strip().splitlines()[:5]
    raise StartFailed("\n".join([f"Maven could not fetch the jars of {pom.parent.name}:", *said]))


def run(
    command: list[str], home: Path, seconds: float = TOOL_SECONDS, **environment: str
) -> "subprocess.CompletedProcess[str]":
    """Run a tool on the JDK in `home` to its end; `StartFailed` when it takes too long."""
    try:
        return subprocess.run(
            command,
            env={**os.environ, "JAVA_HOME": str(home), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired as late:
        raise StartFailed(f"{Path(command[0]).name} took more than {seconds:g} s") from late


def hand_over(data: Path, user: str = UNPRIVILEGED) -> None:
    """Where this is root, give `data` and all in it to `user`, who must be able to reach it."""
    if os.geteuid() != 0:
        return
    account = pwd.getpwnam(user)
    for path in (data, *data.rglob("*")):
        os.chown(path, account.pw_uid, account.pw_gid, follow_symlinks=False)
    for folder in data.resolve().parents:
        if not folder.stat().st_mode & 0o001:
            raise StartFailed(
                f"the user {user} cannot reach {data}, because {folder} is closed to other "
                "users: choose another data folder, or open it (chmod o+x)"
            )
