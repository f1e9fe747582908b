"""`make images`: build both images; `python -m deploy.images sbom` writes their packages."""

import json
import os
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from deploy.images.roles import ROLES
from deploy.images.sbom import bill
from deploy.local.house import ROOT

BILLS = Path("reports/sbom")
SECONDS = 20


def obstacle() -> str | None:
    """Why no image can be built here, in a sentence; None when one can."""
    if shutil.which("docker") is None:
        return (
            "images are built with Docker, which is not installed: https://docs.docker.com/engine"
        )
    try:
        for command in (["docker", "info"], ["docker", "buildx", "version"]):
            done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
            if done.returncode:
                return f"images are built with Docker and BuildKit, but `{' '.join(command)}` fails"
    except subprocess.TimeoutExpired:
        return "images are built with Docker, but its daemon does not answer"
    return None


def command(role: str, name: str, version: str, revision: str) -> list[str]:
    """How a role's image is built."""
    return [
        "docker", "buildx", "build",
        "--file", "deploy/images/Dockerfile",
        "--target", role,
        "--tag", f"{name}/{role}:{version}",
        "--build-arg", f"VERSION={version}",
        "--build-arg", f"REVISION={revision}",
        "--load",
        ".",
    ]  # fmt: skip


def _revision() -> str:
    done = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "unknown"


def build() -> int:
    """Build both; the number to exit with."""
    if (why := obstacle()) is not None:
        print(why, file=sys.stderr)
        return 1
    name = os.environ.get("IMAGES") or "groundwire"
    version = os.environ.get("VERSION") or metadata.version("groundwire")
    for role in ROLES:
        done = subprocess.run(command(role, name, version, _revision()), cwd=ROOT, check=False)
        if done.returncode:
            return done.returncode
    return 0


def write_bills() -> int:
    """Write each role's packages below `reports/sbom`."""
    (ROOT / BILLS).mkdir(parents=True, exist_ok=True)
    for role in ROLES:
        target = ROOT / BILLS / f"{role}.cdx.json"
        target.write_text(json.dumps(bill(ROOT, role), indent=2) + "\n", encoding="utf-8")
        print(f"wrote {target.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(write_bills() if sys.argv[1:] == ["sbom"] else build())
