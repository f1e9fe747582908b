"""`groundwire reprocess`: which documents are meant, and what is asked for."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from libs.client.cli.app import build
from libs.client.cli.reprocess import Condition
from libs.contracts.artefacts.manifest import Manifest
from tests.unit.client.fake_gateway import MOMENT, FakeGateway, accepted
from tests.unit.client.test_cli import SPACE, document

NOW = datetime(2026, 3, 1, tzinfo=UTC)
GOLDEN = Path(__file__).resolve().parents[2] / "contract" / "golden" / "manifest" / "v1.json"


def manifest(engine: str, **versions: str) -> dict[str, Any]:
    return {**json.loads(GOLDEN.read_text()), "engine": engine, "versions": versions}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("engine=liteparse", True),
        ("engine=docling", False),
        ("engine != docling", True),
        ("format=pdf", True),
        ("version<2.18", True),
        ("version<2.9", False),
        ("version>=2.17.0", True),
        ("version=2.17", True),
        ("version.pillow<13", True),
        ("version.unknown<99", False),
        ("age>30d", True),
        ("age>32d", False),
        ("age<1000h", True),
    ],
)
def test_conditions(condition: str, holds: bool) -> None:
    made = Manifest.model_validate(manifest("liteparse", liteparse="2.17.0", pillow="12.1"))
    made_at = NOW - timedelta(days=31)
    assert Condition.of(condition).holds(made, made_at, NOW) is holds


@pytest.mark.parametrize(
    "text",
    ["", "engine", "color=red", "engine<x", "age>30", "age>30y", "age>9999999999d", "version>new",
     "version.pillow!=x"],
)  # fmt: skip
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"condition|compared|age|version"):
        Condition.of(text)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build(), ["reprocess", *arguments])


@pytest.fixture
def documents(gateway: FakeGateway) -> FakeGateway:
    """`doc-1` made by an old liteparse, `doc-2` by docling, `doc-3` never published."""
    pending = {**document("doc-3"), "state": "pending", "active_revision": None}
    items = [document("doc-1"), document("doc-2"), pending]
    gateway.on("GET", f"{SPACE}/documents", (200, {"items": items}))
    revision = {
        "revision": 2, "state": "published", "active": True, "job_id": "job-1",
        "sha256": "0" * 64, "size": 10, "created_at": MOMENT, "published_at": MOMENT,
    }  # fmt: skip
    for name, made in (
        ("doc-1", manifest("liteparse", liteparse="2.1")),
        ("doc-2", manifest("docling")),
    ):
        gateway.on("GET", f"{SPACE}/documents/{name}/manifest", (200, made))
        gateway.on("GET", f"{SPACE}/documents/{name}/revisions", (200, {"items": [revision]}))
        gateway.on("POST", f"{SPACE}/documents/{name}/reprocess", (202, accepted(f"job-{name}")))
    return gateway


def test_only_what_is_meant_is_made_again(documents: FakeGateway) -> None:
    result = run("--where", "version<2.18", "--where", "age>1h", "--engine", "docling", "--json")
    assert result.exit_code == 0, result.output
    made = [json.loads(line) for line in result.stdout.splitlines()]
    assert made == [{"document_id": "doc-1", "of_revision": 2, "job_id": "job-doc-1"}]
    asked = documents.bodies("POST", f"{SPACE}/documents/doc-1/reprocess")
    assert [one.json for one in asked] == [{"engine": "docling"}]
    assert not documents.bodies("POST", f"{SPACE}/documents/doc-2/reprocess")


def test_a_dry_run_asks_for_nothing(documents: FakeGateway) -> None:
    result = run("--where", "age>1h", "--dry-run")
    assert [line.split("\t")[0] for line in result.stdout.splitlines()[1:]] == ["doc-1", "doc-2"]
    assert not [one for one in documents.seen if one.method == "POST"]


def test_nothing_meant_is_said(documents: FakeGateway) -> None:
    assert "no document is meant" in run("--where", "engine=native").output


def test_a_wrong_condition_is_misuse(documents: FakeGateway) -> None:
    assert run("--where", "color=red").exit_code == 2
    assert run().exit_code == 2
    assert documents.seen == []
