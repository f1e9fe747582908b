"""The code in the documents does what they say, on a running stack."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stack import KEY, Stack
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
SNIPPETS = ROOT / "docs" / "snippets"
BIN = Path(sys.executable).parent


def run(stack: Stack, *command: str, **more: str) -> str:
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "GROUNDWIRE_URL": stack.url,
        "GROUNDWIRE_API_KEY": KEY,
        "GROUNDWIRE_DATA_DIR": str(stack.data),
        **more,
    }
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_asking_by_the_client(stack: Stack) -> None:
    said = run(stack, sys.executable, str(SNIPPETS / "ask.py")).splitlines()
    assert said[0] == "published"
    assert any(line.startswith("README.md ['Groundwire'") for line in said)
    assert said[-1] == "verified"


def test_the_first_hour(stack: Stack, tmp_path: Path) -> None:
    environment = {"WORK": str(tmp_path / "work"), "PATH": f"{BIN}:{os.environ['PATH']}"}
    said = run(stack, "sh", str(SNIPPETS / "first_hour.sh"), **environment)
    assert "Between November and March it opens at seven." in said
    assert "verified" in said
    assert "superseded" in said
    assert "something has changed" in said


def test_asking_by_curl(stack: Stack) -> None:
    said = run(stack, "sh", str(SNIPPETS / "curl.sh"))
    assert '"document_id":"readme"' in said
    assert '"state":"published"' in said
    assert '"source_file_name":"README.md"' in said
    assert '"title":"Where to read on"' in said


def test_tools_by_the_official_client(stack: Stack) -> None:
    said = run(stack, sys.executable, str(SNIPPETS / "mcp_client.py"))
    assert "verify_citation" in said.splitlines()[0]


def test_an_upload_event(stack: Stack) -> None:
    assert run(stack, sys.executable, str(SNIPPETS / "upload_event.py")).strip() == "published"


@pytest.mark.parametrize("command", [("jobs",), ("documents", "list"), ("usage",)])
def test_the_command_line_reaches_the_stack(stack: Stack, command: tuple[str, ...]) -> None:
    run(stack, sys.executable, "-m", "libs.client.cli.app", *command)


def test_the_command_line_ingests_and_searches(stack: Stack, tmp_path: Path) -> None:
    groundwire = (sys.executable, "-m", "libs.client.cli.app")
    (tmp_path / "lighthouse.md").write_text("# Lighthouse\n\nIts lamp turns twice a minute.\n")
    assert run(stack, *groundwire, "ingest", str(tmp_path)).startswith("published\t")
    answer = json.loads(run(stack, *groundwire, "search", "lamp of the lighthouse", "--json"))
    found = [piece["source_file_name"] for piece in answer["evidence"]]
    assert "lighthouse.md" in found
