"""The command line against a scripted gateway, as a user calls it."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.progress import Progress
from typer.testing import CliRunner, Result

from libs.client.cli.app import build
from libs.client.cli.files import Snapshot
from libs.client.cli.progress import Bars, Outcome
from tests.unit.client.fake_gateway import MOMENT, FakeGateway, accepted, job, problem, stream

SPACE = "/v1/namespaces/default"
EVENTS = f"{SPACE}/jobs/[^/]+/events"


def run(*arguments: str, **options: str) -> Result:
    return CliRunner().invoke(build(), list(arguments), **options)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    below = tmp_path / "papers" / "deep"
    below.mkdir(parents=True)
    (below.parent / "a.md").write_text("# A")
    (below / "b.txt").write_text("b")
    (below / ".hidden").write_text("x")
    (tmp_path / "papers" / ".git").mkdir()
    (tmp_path / "papers" / ".git" / "config").write_text("x")
    (tmp_path / "papers" / "loop").symlink_to(tmp_path / "papers")
    return tmp_path / "papers"


def document(document_id: str) -> dict[str, object]:
    return {
        "document_id": document_id,
        "file_name": "a.md",
        "collection": "default",
        "state": "active",
        "active_revision": 2,
        "metadata": {},
        "counts": {"chunks": 7},
        "dense_coverage": 1.0,
        "created_at": MOMENT,
        "updated_at": MOMENT,
    }


def test_a_folder_is_ingested_with_all_below_it_but_nothing_hidden(
    gateway: FakeGateway, folder: Path
) -> None:
    gateway.on("POST", f"{SPACE}/documents", (202, accepted()))
    gateway.on("GET", EVENTS, stream(job("job-1", "running"), job("job-1", "published")))
    result = run("ingest", str(folder), "--collection", "papers", "--tag", "x")
    assert result.exit_code == 0, result.output
    sent = gateway.bodies("POST", f"{SPACE}/documents")
    assert sorted(seen.form["file_name"] for seen in sent) == [b"a.md", b"b.txt"]
    assert len({seen.form["document_id"] for seen in sent}) == 2
    options = json.loads(sent[0].form["options"])
    assert options == {"collection": "papers", "metadata": {"tags": ["x"]}}
    assert result.stdout.count("published\t") == 2


def test_bars_show_what_is_under_way_and_leave_a_line_for_what_ended() -> None:
    shown = io.StringIO()
    with Progress(console=Console(file=shown, force_terminal=True, width=80)) as progress:
        bars = Bars(progress, 2)
        bars.begin(Path("a.md"), 10)
        bars.sent(Path("a.md"), 5)
        bars.stage(Path("a.md"), "parser", 1, 0)
        [everything, one] = progress.tasks
        assert (one.completed, one.total, one.fields["note"]) == (1, 2, "parser")
        bars.end(Path("a.md"), Outcome("published", "doc-1 r1"))
        bars.end(Path("never begun"), Outcome("failed", "no\x1b[2J such file", failed=True))
        assert (everything.completed, everything.total) == (2, 2)
        assert len(progress.tasks) == 1
    assert "✓ a.md  published  doc-1 r1" in shown.getvalue()
    assert "\x1b[2J" not in shown.getvalue()


def test_the_same_path_is_the_same_document(gateway: FakeGateway, folder: Path) -> None:
    gateway.on("POST", f"{SPACE}/documents", (200, accepted(outcome="unchanged")))
    for _ in range(2):
        assert run("ingest", str(folder / "a.md")).exit_code == 0
    first, second = gateway.bodies("POST", f"{SPACE}/documents")
    assert first.form["document_id"] == second.form["document_id"]
    assert not [seen for seen in gateway.seen if "events" in seen.path]


def test_one_failure_makes_the_exit_code_and_the_others_go_on(
    gateway: FakeGateway, folder: Path
) -> None:
    error = problem(422, "encrypted", "the file is encrypted", "document")
    gateway.on("POST", f"{SPACE}/documents", (202, accepted("bad")), (202, accepted("good")))
    gateway.on("GET", f"{SPACE}/jobs/bad/events", stream(job("bad", "failed", error=error)))
    gateway.on("GET", f"{SPACE}/jobs/good/events", stream(job("good", "published")))
    result = run("ingest", str(folder))
    assert result.exit_code == 1
    assert "the file is encrypted" in result.stderr
    assert result.stdout.count("published\t") == 1


def test_a_refused_upload_fails_with_its_reason(gateway: FakeGateway, folder: Path) -> None:
    too_large = problem(413, "too_large", "larger than 512 MB", "document")
    gateway.on("POST", f"{SPACE}/documents", (413, too_large))
    result = run("ingest", str(folder / "a.md"))
    assert result.exit_code == 1
    assert "larger than 512 MB" in result.stderr


def test_when_nobody_answers_the_rest_is_not_tried(
    gateway: FakeGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (tmp_path / f"{number}.md").write_text("x")
    monkeypatch.setattr("libs.client.retry.Retry.after_error", lambda *_: None)
    result = run("--url", "http://127.0.0.1:1", "ingest", str(tmp_path))
    assert result.exit_code == 1
    assert result.stderr.count("not sent\t") >= 20
    assert "make run" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere"], "there is no nowhere"), (["papers", "--document-id", "d"], "exactly one file")],
)
def test_misuse_is_told_before_anything_is_sent(
    gateway: FakeGateway, folder: Path, arguments: list[str], said: str
) -> None:
    result = run("ingest", *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not gateway.seen


def test_watching_takes_what_changed_once_it_is_at_rest(folder: Path) -> None:
    snapshot = Snapshot([folder])
    assert len(snapshot.files()) == 2
    assert snapshot.settled_changes() == []
    new = folder / "new.md"
    new.write_text("1")
    (folder / "a.md").write_text("# A, longer")
    assert snapshot.settled_changes() == [], "they may still be written"
    assert snapshot.settled_changes() == [folder / "a.md", new]
    assert snapshot.settled_changes() == []


SEARCH_ANSWER = {
    "run_id": "run-1",
    "corpus_version": 1,
    "evidence": [
        {
            "document_id": "doc-1",
            "revision": 2,
            "chunk_id": "t" + "0" * 64,
            "type": "text",
            "content": "사과는 빨갛다\x1b[2J" + "가" * 700,
            "source_file_name": "과일.pdf",
            "section_path": ["1", "1.2"],
            "page_numbers": [4],
            "content_hash": "sha256:0",
            "score": 0.1,
        }
    ],
}


def test_search_cites_file_section_page_and_ids(gateway: FakeGateway) -> None:
    gateway.on("POST", f"{SPACE}/search", (200, SEARCH_ANSWER))
    result = run("search", "사과", "--agentic", "--top-k", "3", "--document", "doc-1")
    assert result.exit_code == 0, result.output
    assert "1. 과일.pdf · 1 › 1.2 · p. 4  [doc-1 r2 t000000000000…]" in result.stdout
    assert "\x1b" not in result.stdout, "a document must not steer the terminal"
    assert result.stdout.count("가") < 700
    assert gateway.seen[0].json == {
        "query": "사과",
        "mode": "agentic",
        "top_k": 3,
        "filters": {"document_ids": ["doc-1"]},
    }


def test_search_as_json_is_the_answer(gateway: FakeGateway) -> None:
    gateway.on("POST", f"{SPACE}/search", (200, SEARCH_ANSWER))
    answer = json.loads(run("search", "사과", "--json").stdout)
    assert answer["evidence"][0]["page_numbers"] == [4]
    assert answer["schema_version"] == 1


def test_a_query_that_cannot_be_sent_says_why(gateway: FakeGateway) -> None:
    result = run("search", "a\x00b")
    assert result.exit_code == 2
    assert "query" in result.stderr
    assert not gateway.seen


def test_no_evidence_is_said(gateway: FakeGateway) -> None:
    nothing = {
        "run_id": "run-1",
        "corpus_version": 1,
        "status": "abstained",
        "status_reason": "empty",
    }
    gateway.on("POST", f"{SPACE}/search", (200, nothing))
    assert "no evidence: empty" in run("search", "q").stdout


def test_options_before_the_command_say_where(gateway: FakeGateway) -> None:
    gateway.on("GET", "/v1/namespaces/other/documents", (200, {"items": []}))
    result = run("--namespace", "other", "--key", "gw_other", "documents", "list")
    assert result.exit_code == 0, result.output
    assert gateway.seen[0].headers["authorization"] == "Bearer gw_other"


def test_documents_are_listed_page_by_page(gateway: FakeGateway) -> None:
    first = {"items": [document("doc-1")], "next_cursor": "doc-1"}
    gateway.on("GET", f"{SPACE}/documents", (200, first), (200, {"items": [document("doc-2")]}))
    result = run("documents", "list")
    listed = [line.split("\t")[0] for line in result.stdout.splitlines()]
    assert listed == ["document", "doc-1", "doc-2"]
    assert "cursor=doc-1" in gateway.seen[1].path


def test_a_document_is_shown_rolled_back_and_deleted(gateway: FakeGateway) -> None:
    revision = {
        "revision": 2, "state": "published", "active": True, "job_id": "job-1",
        "sha256": "0" * 64, "size": 10, "created_at": MOMENT,
    }  # fmt: skip
    gateway.on("GET", f"{SPACE}/documents/doc-1", (200, document("doc-1")))
    gateway.on("GET", f"{SPACE}/documents/doc-1/revisions", (200, {"items": [revision]}))
    gateway.on("POST", f"{SPACE}/documents/doc-1/revisions/1/activate", (200, document("doc-1")))
    receipt = {
        "erasure_id": "era-1", "document_id": "doc-1", "state": "requested", "requested_at": MOMENT,
    }  # fmt: skip
    gateway.on("DELETE", f"{SPACE}/documents/doc-1", (202, receipt))
    assert "*\t2\tpublished\tjob-1" in run("documents", "show", "doc-1").stdout
    assert "revision 1 is active" in run("documents", "rollback", "doc-1", "1").stdout
    assert run("documents", "delete", "doc-1", input="n\n").exit_code == 1
    assert not gateway.bodies("DELETE", f"{SPACE}/documents/doc-1")
    assert "era-1" in run("documents", "delete", "doc-1", "--yes").stdout


def test_an_outline_is_drawn_as_a_tree(gateway: FakeGateway) -> None:
    leaf = {"section_id": "s2", "title": "1.1 잎", "path": ["1", "1.1"], "level": 2, "order": 1}
    branch = {
        "section_id": "s1", "title": "1 가지", "path": ["1"], "level": 1, "order": 0,
        "total_chunk_count": 3, "children": [leaf],
    }  # fmt: skip
    root = {"section_id": "s0", "title": "", "path": [], "level": 0, "order": 0}
    nav = {
        "document_id": "d",
        "file_name": "a",
        "title": "나무",
        "root": root | {"children": [branch]},
    }
    gateway.on("GET", f"{SPACE}/documents/doc-1/outline", (200, nav))
    assert run("outline", "doc-1").stdout.splitlines() == ["나무", "1 가지  (3)", "  1.1 잎"]


def test_jobs_are_listed_shown_and_cancelled(gateway: FakeGateway) -> None:
    gateway.on("GET", f"{SPACE}/jobs", (200, {"items": [job("job-1", "running")]}))
    gateway.on("GET", f"{SPACE}/jobs/job-1", (200, job("job-1", "cancelled")))
    gateway.on("POST", f"{SPACE}/jobs/job-1/cancel", (200, job("job-1", "cancelled")))
    assert "job-1\ta.md\trunning\tindexer\t3/5 stage" in run("jobs", "--state", "running").stdout
    assert json.loads(run("jobs", "job-1", "--cancel").stdout)["state"] == "cancelled"


def test_dead_letters_are_listed_shown_replayed_and_discarded(gateway: FakeGateway) -> None:
    letter = {
        "dead_letter_id": "dl-1", "age_seconds": 93_784.5, "message": {"a": 1},
        "namespace": "default", "document_id": "d", "job_id": "job-1",
        "stage": "parser", "consumer": "parser", "code": "internal", "detail": "boom",
        "attempt": 1, "deliveries": 3, "trace_id": None, "subject": "s", "headers": {},
        "body": "e30=", "parked_at": MOMENT,
    }  # fmt: skip
    gateway.on("GET", "/v1/dead-letters", (200, {"items": [letter]}))
    gateway.on("GET", "/v1/dead-letters/dl-1", (200, letter))
    gateway.on("POST", "/v1/dead-letters/dl-1/replay", (202, b""))
    gateway.on("DELETE", "/v1/dead-letters/dl-1", (204, b""))
    listed = run("dead-letters", "list", "--code", "internal", "--stage", "parser")
    assert "dl-1\tparser\tinternal\t1d 2h\td\tjob-1" in listed.stdout
    assert "code=internal" in gateway.seen[-1].path
    assert "stage=parser" in gateway.seen[-1].path
    assert json.loads(run("dead-letters", "show", "dl-1").stdout)["message"] == {"a": 1}
    assert run("dead-letters", "replay", "dl-1").exit_code == 0
    assert run("dead-letters", "discard", "dl-1").exit_code == 2
    assert run("dead-letters", "discard", "dl-1", "--reason", "lost").exit_code == 0
    assert gateway.seen[-1].path == "/v1/dead-letters/dl-1?reason=lost"


def test_many_dead_letters_are_replayed_and_what_is_refused_stops_none(
    gateway: FakeGateway,
) -> None:
    letter = {
        "namespace": "default", "document_id": "d", "job_id": "job-1",
        "stage": "parser", "consumer": "parser", "code": "timeout", "detail": "slow",
        "attempt": 1, "deliveries": 3, "trace_id": None, "subject": "s", "headers": {},
        "body": "e30=", "parked_at": MOMENT,
    }  # fmt: skip
    first, second = ({"dead_letter_id": f"dl-{n}", **letter} for n in (1, 2))
    gateway.on("GET", "/v1/dead-letters", (200, {"items": [first], "next_cursor": "7"}),
               (200, {"items": [second]}))  # fmt: skip
    refusal = problem(409, "conflict", "the job is cancelled")
    gateway.on("POST", "/v1/dead-letters/dl-1/replay", (409, refusal))
    gateway.on("POST", "/v1/dead-letters/dl-2/replay", (204, b""))
    result = run("dead-letters", "replay", "--code", "timeout")
    assert result.exit_code == 1
    assert result.stdout == "dl-2: sent again\n"
    assert result.stderr.startswith("dl-1: conflict")
    for unclear in ((), ("dl-1", "--all")):
        assert run("dead-letters", "replay", *unclear).exit_code == 2


def test_a_key_takes_over_while_the_old_one_is_good(gateway: FakeGateway) -> None:
    key = {"key_id": "key-2", "namespace": "acme", "role": "writer", "created_at": MOMENT}
    gateway.on("POST", "/v1/keys/key-1/rotate", (201, {**key, "secret": "gw_new"}))
    assert run("keys", "rotate", "key-1", "--overlap", "3600").stdout == "key-2\tgw_new\n"
    assert gateway.seen[-1].path == "/v1/keys/key-1/rotate?overlap_seconds=3600"


def test_stages_and_namespaces_are_paused_and_go_on(gateway: FakeGateway) -> None:
    nothing = (200, {"stages": [], "namespaces": {}})
    gateway.on("GET", "/v1/pauses", nothing)
    gateway.on("PUT", "/v1/pauses/stages/parser", (200, {"stages": ["parser"]}))
    gateway.on("PUT", "/v1/pauses/namespaces/acme", (200, {"namespaces": {"acme": MOMENT}}))
    gateway.on("DELETE", "/v1/pauses/stages/parser", nothing)
    assert run("pause").stdout == "nothing is paused\n"
    assert run("pause", "parser").stdout == "stage parser is paused\n"
    assert "namespace acme is paused since 2026-01-02" in run("pause", "-n", "acme").stdout
    assert json.loads(run("resume", "parser", "--json").stdout) == nothing[1]
    for wrong in (["gateway"], ["parser", "-n", "acme"]):
        assert run("pause", *wrong).exit_code == 2


def test_keys_and_namespaces_are_made(gateway: FakeGateway) -> None:
    key = {"key_id": "key-1", "namespace": "acme", "role": "writer", "created_at": MOMENT}
    gateway.on("POST", "/v1/keys", (201, {**key, "secret": "gw_once"}))
    gateway.on("GET", "/v1/keys", (200, {"items": [key]}))
    gateway.on("POST", "/v1/keys/key-1/rotate", (200, {**key, "secret": "gw_new"}))
    gateway.on("DELETE", "/v1/keys/key-1", (204, b""))
    gateway.on("POST", "/v1/namespaces", (201, {"namespace": "acme"}))
    gateway.on("GET", "/v1/namespaces", (200, {"items": ["acme", "default"]}))
    assert run("keys", "create", "acme", "--role", "writer").stdout == "key-1\tgw_once\n"
    assert "key-1\tacme\twriter" in run("keys", "list").stdout
    assert "gw_new" in run("keys", "rotate", "key-1").stdout
    assert run("keys", "revoke", "key-1").exit_code == 0
    assert run("namespaces", "create", "acme").exit_code == 0
    assert run("namespaces", "list").stdout.split() == ["namespace", "acme", "default"]
    held = {
        "namespace": "acme", "documents": 2, "chunks": 9, "keys": 1,
        "jobs": {"published": 2, "failed": 0},
    }  # fmt: skip
    gateway.on("GET", "/v1/usage", (200, {"items": [held]}))
    assert run("usage").stdout.splitlines()[1:] == ["acme\t2\t9\t1\t2 published"]


def test_nobody_there_has_an_exit_code_of_its_own(
    gateway: FakeGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("libs.client.retry.Retry.after_error", lambda *_: None)
    result = run("--url", "http://127.0.0.1:1", "jobs")
    assert result.exit_code == 3
    assert "make run" in result.stderr


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['groundwire', '--help']\n"
        "from libs.client.cli import main\n"
        "try:\n    main()\nexcept SystemExit: pass\n"
        "heavy = {'httpx', 'pydantic', 'faststream', 'sqlalchemy', 'rich.markdown', 'numpy'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[3])},
    )  # fmt: skip
    assert "ingest" in done.stdout
    assert "doctor" in done.stdout
    assert done.stderr == ""


def test_watching_sends_a_changed_file_as_the_next_revision_until_it_is_ended(
    gateway: FakeGateway, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gateway.on("POST", f"{SPACE}/documents", (202, accepted()))
    gateway.on("GET", EVENTS, stream(job("job-1", "published")))
    looks = iter([True, False, False])

    def pause(_seconds: float) -> None:
        if (change := next(looks, None)) is None:
            raise KeyboardInterrupt
        if change:
            (folder / "a.md").write_text("# A, changed")

    monkeypatch.setattr("libs.client.cli.ingest.time", SimpleNamespace(sleep=pause))
    result = run("ingest", str(folder), "--watch")
    assert result.exit_code == 0, result.output
    sent = gateway.bodies("POST", f"{SPACE}/documents")
    assert len(sent) == 3
    assert sent[2].form["file"] == b"# A, changed"
    ids = {s.form["document_id"] for s in sent if s.form["file_name"] == b"a.md"}
    assert len(ids) == 1
