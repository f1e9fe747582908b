"""What every command prints: headed tables, a word for nothing, JSON on request; exit codes."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from libs.client.cli.app import build
from tests.unit.client.fake_gateway import MOMENT, FakeGateway, fake_gateway, job, problem

SPACE = "/v1/namespaces/default"
NAV_SECTION = {"section_id": "s", "title": "", "level": 0, "order": 0, "path": []}
EVIDENCE = {
    "document_id": "doc-1",
    "revision": 2,
    "chunk_id": "t0001",
    "type": "text",
    "content": "Tighten the bolts.",
    "source_file_name": "pump.md",
    "content_hash": "sha256:" + "0" * 64,
}


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeGateway]:
    monkeypatch.chdir(tmp_path)
    with fake_gateway() as fake:
        monkeypatch.setenv("GROUNDWIRE_URL", fake.url)
        monkeypatch.setenv("GROUNDWIRE_API_KEY", "gw_key")
        yield fake


def run(*arguments: str, **options: Any) -> Result:
    return CliRunner().invoke(build(), list(arguments), **options)


LISTINGS = {
    ("documents", "list"): (f"{SPACE}/documents", "document\tfile"),
    ("jobs",): (f"{SPACE}/jobs", "job\tfile"),
    ("dead-letters", "list"): ("/v1/dead-letters", "dead letter\tstage"),
    ("keys", "list"): ("/v1/keys", "key\tnamespace"),
    ("namespaces", "list"): ("/v1/namespaces", "namespace"),
    ("usage",): ("/v1/usage", "namespace\tdocuments"),
    ("audit",): ("/v1/audit", "at\tkey"),
}


@pytest.mark.parametrize("command", LISTINGS)
def test_an_empty_listing_says_so_and_prints_nothing_to_a_pipe(
    gateway: FakeGateway, command: tuple[str, ...]
) -> None:
    gateway.on("GET", LISTINGS[command][0], (200, {"items": []}))
    for arguments, said in ((command, True), ((*command, "--json"), False)):
        result = run(*arguments)
        assert (result.exit_code, result.stdout) == (0, "")
        assert result.stderr.startswith("there are no ") is said


def items(path: str) -> list[Any]:
    if path.endswith("/jobs"):
        return [job("job-1", "running"), job("job-2", "failed")]
    if path == "/v1/namespaces":
        return ["acme", "default"]
    if path == "/v1/usage":
        one = {"documents": 1, "chunks": 2, "keys": 1, "jobs": {"published": 1}}
        return [{"namespace": name, **one} for name in ("acme", "default")]
    if path == "/v1/keys":
        one = {"namespace": "acme", "role": "reader", "created_at": MOMENT}
        return [{"key_id": name, **one} for name in ("key-1", "key-2")]
    if path == "/v1/audit":
        one = {"at": MOMENT, "key_id": "key-1", "role": "admin", "namespace": None,
               "action": "stage.pause", "target": "parser"}  # fmt: skip
        return [{"audit_id": name, **one} for name in ("audit-2", "audit-1")]
    raise AssertionError(path)


@pytest.mark.parametrize(
    "command", [c for c in LISTINGS if c[0] in {"jobs", "namespaces", "usage", "keys", "audit"}]
)
def test_a_listing_has_a_header_and_one_json_line_an_item(
    gateway: FakeGateway, command: tuple[str, ...]
) -> None:
    path, header = LISTINGS[command]
    first, second = items(path)
    pages = [
        (200, {"items": [first], "next_cursor": "one"}),
        (200, {"items": [second]}),
    ]
    gateway.on("GET", path, *pages, *pages)
    lines = run(*command).stdout.splitlines()
    assert lines[0].startswith(header)
    assert len(lines) == 3
    gateway.on("GET", path, *pages, *pages)
    told = [json.loads(line) for line in run(*command, "--json").stdout.splitlines()]
    assert len(told) == 2
    assert "cursor=one" in gateway.seen[-1].path


def leaves(group: typer.core.TyperGroup, *path: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if isinstance(command, typer.core.TyperGroup):
            yield from leaves(command, *path, name)
        else:
            yield (*path, name), command


def test_every_command_that_asks_the_service_can_answer_in_json() -> None:
    already = {("dead-letters", "show")}
    asked = {"ingest", "search", "verify", "documents", "outline", "jobs", "dead-letters",
             "keys", "namespaces", "usage", "audit"}  # fmt: skip
    group = typer.main.get_command(build())
    assert isinstance(group, typer.core.TyperGroup)
    missing = [
        path
        for path, command in leaves(group)
        if path[0] in asked
        and path not in already
        and not any("--json" in option.opts for option in command.params)
    ]
    assert missing == []


def test_deleting_what_is_not_there_asks_nothing(gateway: FakeGateway) -> None:
    gateway.on("GET", f"{SPACE}/documents/nope", (404, problem(404, "not_found", "no document")))
    result = run("documents", "delete", "nope", input="y\n")
    assert result.exit_code == 1
    assert "erase" not in result.output
    assert [seen.method for seen in gateway.seen] == ["GET"]


@pytest.mark.parametrize(
    ("first", "lines"),
    [("Pump manual", ["Pump manual", "  Lubrication"]), ("Intro", ["Pump manual", "Intro"])],
)
def test_an_outline_says_its_title_once(gateway: FakeGateway, first: str, lines: list[str]) -> None:
    inner = {**NAV_SECTION, "title": "Lubrication"} if first == "Pump manual" else None
    child = {**NAV_SECTION, "title": first, "children": [inner] if inner else []}
    nav = {
        "document_id": "doc-1",
        "revision": 1,
        "file_name": "pump.md",
        "title": "Pump manual",
        "root": {**NAV_SECTION, "children": [child]},
    }
    gateway.on("GET", f"{SPACE}/documents/doc-1/outline", (200, nav))
    assert run("outline", "doc-1").stdout.splitlines() == lines


def test_the_citations_of_an_answer_are_verified(gateway: FakeGateway, tmp_path: Path) -> None:
    other = {**EVIDENCE, "chunk_id": "t0002"}
    gateway.on(
        "POST",
        f"{SPACE}/verify",
        (200, {"status": "verified"}),
        (200, {"status": "superseded", "active_revision": 3, "detail": "revision 3 is active"}),
    )
    answer = json.dumps({"run_id": "run-1", "evidence": [EVIDENCE, other]})
    result = run("verify", input=answer)
    assert result.exit_code == 1
    assert [line.split("\t")[0] for line in result.stdout.splitlines()] == [
        "status", "verified", "superseded",
    ]  # fmt: skip
    assert gateway.seen[0].json == {
        name: EVIDENCE[name] for name in ("document_id", "revision", "chunk_id", "content_hash")
    }
    gateway.on("POST", f"{SPACE}/verify", (200, {"status": "verified"}))
    (tmp_path / "one.json").write_text(json.dumps(EVIDENCE))
    one = run("verify", "one.json", "--quote", "Tighten", "--json")
    assert one.exit_code == 0, one.output
    assert json.loads(one.stdout)["status"] == "verified"
    assert gateway.seen[-1].json["quote"] == "Tighten"


@pytest.mark.parametrize("text", ["{not json", '"text"', "[1]", '{"evidence": 1}', "[" * 100_000])
def test_what_holds_no_citation_is_wrong_use(gateway: FakeGateway, text: str) -> None:
    result = run("verify", input=text)
    assert result.exit_code == 2
    assert "groundwire search" in result.stderr
    assert not gateway.seen


def test_without_a_key_the_way_to_one_is_told(
    gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GROUNDWIRE_API_KEY")
    gateway.on("GET", f"{SPACE}/jobs", (401, problem(401, "unauthenticated", "send a key")))
    result = run("jobs")
    assert result.exit_code == 1
    for way in ("--key", "GROUNDWIRE_API_KEY", "GROUNDWIRE_DATA_DIR"):
        assert way in result.stderr


def test_exit_codes_and_completion_are_in_the_help() -> None:
    said = run("--help").stdout
    assert "Exit codes: 0 done, 1 refused or failed, 2 wrong use, 3 nobody answers." in said
    assert "--install-completion" in said
