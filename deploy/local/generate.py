"""Write every file that is derived from code; `--check` only compares, and names what differs."""

import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from deploy.images import roles
from deploy.local.generated import (
    asyncapi,
    client,
    cluster,
    environment,
    licences,
    metrics,
    nats_users,
    permissions,
    snippets,
    subjects,
    telemetry,
)
from deploy.local.house import ROOT

GENERATORS = (
    client.render,
    subjects.render,
    asyncapi.render,
    permissions.render,
    nats_users.render,
    cluster.render,
    telemetry.render,
    metrics.render,
    roles.render,
    environment.render,
    snippets.render,
    licences.render,
)


def _formatted(path: Path, text: str) -> str:
    """Python as the formatter would leave it, other text as it is."""
    if path.suffix != ".py":
        return text
    ruff = shutil.which("ruff", path=sysconfig.get_path("scripts")) or "ruff"
    done = subprocess.run(
        [ruff, "format", "--stdin-filename", str(path), "-"],
        input=text,
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return done.stdout


def rendered(root: Path = ROOT) -> dict[Path, str]:
    """Every generated file, by its path below the root."""
    files: dict[Path, str] = {}
    for render in GENERATORS:
        files |= render(root)
    return {path: _formatted(path, text) for path, text in files.items()}


def differing(root: Path = ROOT) -> dict[Path, str]:
    """Those that are missing or hold something else."""

    def differs(path: Path, text: str) -> bool:
        try:
            return (root / path).read_text(encoding="utf-8") != text
        except FileNotFoundError:
            return True

    return {path: text for path, text in rendered(root).items() if differs(path, text)}


def main(arguments: list[str]) -> int:
    """Write, or with `--check` only tell; the number to exit with."""
    found = differing()
    if "--check" in arguments:
        for path in found:
            print(f"{path} is not what the code says: run `make fix`")
        return 1 if found else 0
    for path, text in found.items():
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(text, encoding="utf-8")
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
