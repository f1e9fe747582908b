"""Commands that run one stage on one file."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from libs.client.cli.app import build


@pytest.fixture
def note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "note.md"
    path.write_text(
        "# 사과\n\n사과는 빨갛다.\n\n## 값\n\n| 이름 | 값 |\n| --- | --- |\n| 홍옥 | 3 |\n"
    )
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(build(), list(arguments))


def test_each_stage_shows_what_it_makes_of_a_file(note: Path) -> None:
    profile = json.loads(run("profile", str(note)).stdout)
    assert (profile["format"], profile["language"]) == ("md", "ko")
    rows = [json.loads(line) for line in run("parse", str(note)).stdout.splitlines()]
    assert [row["kind"] for row in rows] == ["heading", "paragraph", "heading", "table"]
    assert run("headings", str(note)).stdout.splitlines() == [
        "사과  [1 markup]",
        "  값  [2 markup]",
    ]
    chunks = [json.loads(line) for line in run("chunk", str(note)).stdout.splitlines()]
    assert {chunk["type"] for chunk in chunks} == {"text", "table"}
    assert [c["path"] for c in chunks if c["type"] == "table"] == [["사과", "값"]]


@pytest.mark.parametrize("command", ["profile", "chunk"])
def test_a_fault_is_a_sentence_and_an_exit_code(note: Path, command: str) -> None:
    note.write_bytes(b"")
    result = run(command, str(note))
    assert result.exit_code == 1
    assert "empty: " in result.stderr


def test_a_query_shows_how_it_is_understood(note: Path) -> None:
    analysis = json.loads(run("plan", "2023년 PDF 보고서").stdout)
    assert analysis["hard_filters"] == {"file_format": ["pdf"], "year": 2023, "country": []}
    refused = run("plan", "값", "--taxonomy", str(note))
    assert refused.exit_code == 1
    assert "taxonomy note.md" in refused.stderr


@pytest.mark.parametrize("command", ["parse", "headings", "chunk"])
def test_an_engine_that_nobody_knows_is_refused_with_those_that_are(
    note: Path, command: str
) -> None:
    result = run(command, str(note), "--engine", "tesseract")
    assert result.exit_code == 2
    assert all(name in result.output for name in ("unknown engine", "docling", "native"))
    assert run(command, str(note), "--engine", "native").exit_code == 0
