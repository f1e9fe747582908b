"""Collections of entries by both clients and on the command line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from libs.client import AsyncClient, Client
from libs.client.cli.app import build
from libs.contracts.entries import CollectionSettings, EntryWeights, RecordRules
from tests.unit.client.fake_gateway import FakeGateway, accepted, job, problem, stream

BANK = "/v1/namespaces/default/collections/bank"
FOUND = {
    "entries": [
        {"id": "M3", "name": "카드 분실 신고", "path": "카드 > 분실", "category": "카드",
         "score": 0.03, "similarity": 0.61}
    ],
    "attempts": [{"query": "지갑", "quality": 0.61, "entries": 1}],
}  # fmt: skip


NOTICED = {
    "engine": "records",
    "findings": [{"code": "row_refused", "detail": "row 3: it has no id", "severity": "warning"}],
}
DOCUMENT = accepted()["document_id"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "menu.csv"
    path.write_text("id,name\n1,a\n")
    return path


def test_records_are_sent_with_their_rules(gateway: FakeGateway, file: Path) -> None:
    gateway.on("POST", f"{BANK}/queries", (202, accepted()))
    with Client() as client:
        rules = RecordRules(kind="questions", mode="replace")
        assert client.send_records("bank", file, rules).job_id == "job-1"
    form = gateway.seen[0].form
    assert form["file_name"] == b"menu.csv"
    assert json.loads(form["options"]) == {"records": {"kind": "questions", "mode": "replace"}}


async def test_an_entry_id_stays_one_part_of_the_path(gateway: FakeGateway) -> None:
    gateway.on("DELETE", f"{BANK}/entries/a%2Fb", (202, accepted()))
    async with AsyncClient() as client:
        assert (await client.delete_entry("bank", "a/b")).job_id == "job-1"


async def test_settings_are_read_and_put(gateway: FakeGateway) -> None:
    changed = CollectionSettings(weights=EntryWeights(dense=0))
    gateway.on("GET", BANK, (200, CollectionSettings().model_dump(mode="json")))
    gateway.on("PUT", BANK, (200, changed.model_dump(mode="json")))
    async with AsyncClient() as client:
        assert await client.collection("bank") == CollectionSettings()
        assert await client.set_collection("bank", changed) == changed
    assert gateway.seen[1].json["weights"]["dense"] == 0


def test_the_command_line_shows_similarities_as_percentages(gateway: FakeGateway) -> None:
    gateway.on("POST", f"{BANK}/search", (200, FOUND))
    done = CliRunner().invoke(build(), ["entries", "search", "bank", "지갑", "--top-k", "3"])
    assert done.exit_code == 0, done.output
    assert "61%" in done.output
    assert "M3" in done.output
    assert gateway.seen[0].json["top_k"] == 3


def test_finding_nothing_is_an_exit_code(gateway: FakeGateway) -> None:
    gateway.on("POST", f"{BANK}/search", (200, {"entries": [], "attempts": []}))
    assert CliRunner().invoke(build(), ["entries", "search", "bank", "x"]).exit_code == 1


@pytest.mark.parametrize(("state", "code"), [("published", 0), ("failed", 1)])
def test_sending_waits_for_the_end(gateway: FakeGateway, file: Path, state: str, code: int) -> None:
    gateway.on("POST", f"{BANK}/entries", (202, accepted()))
    gateway.on("GET", "/v1/namespaces/default/jobs/job-1/events", stream(job("job-1", state)))
    gateway.on("GET", f"/v1/namespaces/default/documents/{DOCUMENT}/diagnostics", (200, NOTICED))
    done = CliRunner().invoke(
        build(), ["entries", "send", "bank", str(file), "--replace", "--column", "name=label"]
    )
    assert done.exit_code == code, done.output
    assert state in done.output
    assert ("row 3: it has no id" in done.output) is (state == "published")
    rules = json.loads(gateway.seen[0].form["options"])["records"]
    assert rules["columns"] == {"name": "label"}


def test_a_column_without_a_name_is_wrong_use(gateway: FakeGateway, file: Path) -> None:
    done = CliRunner().invoke(build(), ["entries", "send", "bank", str(file), "--column", "name"])
    assert done.exit_code == 2
    assert "FIELD=COLUMN" in done.output
    assert gateway.seen == []


def test_collections_are_listed_as_json(gateway: FakeGateway) -> None:
    view = {"collection": "bank", "revision": 2, "entries": 3, "questions": 0,
            "categories": [], "quick_queries": []}  # fmt: skip
    gateway.on("GET", "/v1/namespaces/default/collections",
               (200, {"items": ["bank"], "next_cursor": None}))  # fmt: skip
    gateway.on("GET", f"{BANK}/overview", (200, view))
    done = CliRunner().invoke(build(), ["entries", "list", "--json"])
    assert json.loads(done.output) == view


async def test_what_is_stored_is_read_by_the_client(gateway: FakeGateway) -> None:
    base = f"/v1/namespaces/default/documents/{DOCUMENT}"
    gateway.on("GET", f"{base}/diagnostics", (200, NOTICED))
    gateway.on("GET", f"{base}/chunks", (200, {"schema_version": 1, "chunks": []}))
    gateway.on("GET", f"{base}/source", (200, b"bytes"))
    gateway.on("GET", f"{base}/assets/a%20b/c.png", (200, b"png"))
    async with AsyncClient() as client:
        assert (await client.diagnostics(DOCUMENT, 2)).findings[0].code == "row_refused"
        assert (await client.chunks(DOCUMENT)).chunks == []
        assert await client.source(DOCUMENT) == b"bytes"
        assert await client.asset(DOCUMENT, "assets/a b/c.png") == b"png"


COST = {
    "entries": 2,
    "steps": [
        {"step": "describe", "model": "small", "calls": 2, "cached": 0, "tokens_in": 900,
         "tokens_out": 3000},
        {"step": "context", "model": None, "calls": 0, "cached": 0, "tokens_in": 0,
         "tokens_out": 0},
    ],
}  # fmt: skip


def test_the_cost_is_shown_and_nothing_done_unless_asked(gateway: FakeGateway) -> None:
    gateway.on("POST", f"{BANK}/enrich", (200, COST))
    done = CliRunner().invoke(build(), ["entries", "enrich", "bank", "--id", "M1"])
    assert done.exit_code == 0, done.output
    assert "3000" in done.output
    assert "not configured" in done.output
    assert [seen.json["dry_run"] for seen in gateway.seen] == [True]
    assert gateway.seen[0].json["ids"] == ["M1"]


def test_enriching_is_waited_for(gateway: FakeGateway) -> None:
    gateway.on("POST", f"{BANK}/enrich", (200, COST), (202, {**COST, "job": accepted()}))
    gateway.on("GET", "/v1/namespaces/default/jobs/job-1/events", stream(job("job-1", "published")))
    done = CliRunner().invoke(build(), ["entries", "enrich", "bank", "--run"])
    assert done.exit_code == 0, done.output
    assert "published" in done.output
    assert [seen.json["dry_run"] for seen in gateway.seen if seen.method == "POST"] == [
        True,
        False,
    ]


def test_a_review_is_written_sent_and_told(gateway: FakeGateway, tmp_path: Path) -> None:
    gateway.on("GET", f"{BANK}/review.xlsx", (200, b"workbook"))
    target = tmp_path / "r.xlsx"
    done = CliRunner().invoke(build(), ["entries", "export", "bank", str(target), "--by", "부서"])
    assert done.exit_code == 0, done.output
    assert target.read_bytes() == b"workbook"
    both = {"entries": accepted(), "questions": accepted()}
    report = {"added": [{"id": "M1", "question": "물려줘"}], "unknown": ["M9"]}
    gateway.on("POST", f"{BANK}/review", (202, both))
    gateway.on("GET", f"{BANK}/review", (200, report))
    ended = stream(job("job-1", "published"))
    gateway.on("GET", "/v1/namespaces/default/jobs/job-1/events", ended, ended)
    done = CliRunner().invoke(build(), ["entries", "review", "bank", str(target)])
    assert done.exit_code == 0, done.output
    assert "물려줘" in done.output
    assert "not published" in done.output


def test_a_review_without_sample_questions_is_done(gateway: FakeGateway, tmp_path: Path) -> None:
    book = tmp_path / "r.xlsx"
    book.write_bytes(b"workbook")
    fault = problem(422, "no_content", "the review has no sample questions", "document")
    ended = stream(job("job-1", "published"))
    failed = stream({**job("job-1", "failed"), "error": fault})
    gateway.on("POST", f"{BANK}/review", (202, {"entries": accepted(), "questions": accepted()}))
    gateway.on("GET", f"{BANK}/review", (200, {"keywords": ["M1"]}))
    gateway.on("GET", "/v1/namespaces/default/jobs/job-1/events", ended, failed)
    done = CliRunner().invoke(build(), ["entries", "review", "bank", str(book)])
    assert done.exit_code == 0, done.output
    assert "M1" in done.output
