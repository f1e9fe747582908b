"""Both clients against a scripted gateway: uploads, retries, following, errors."""

import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from libs.client import ApiError, AsyncClient, Client, Unreachable
from libs.client.errors import WaitTimeout
from libs.client.retry import Retry
from libs.contracts.api.documents import JobView
from libs.contracts.api.ingest import DocumentMetadata, IngestOptions
from libs.contracts.api.search import SearchRequest
from tests.unit.client.fake_gateway import FakeGateway, accepted, job, problem, stream

DOCUMENTS = "/v1/namespaces/default/documents"
EVENTS = "/v1/namespaces/default/jobs/job-1/events"
JOB = "/v1/namespaces/default/jobs/job-1"
QUICK = Retry(tries=4, first=0.001, longest=0.01)


@pytest.fixture
def client(gateway: FakeGateway) -> Client:
    return Client(retry=QUICK)


@pytest.fixture
async def asynchronous(gateway: FakeGateway) -> AsyncIterator[AsyncClient]:
    async with AsyncClient(retry=QUICK) as opened:
        yield opened


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "보고서.md"
    path.write_bytes(b"# Title\n" * 1000)
    return path


def test_an_upload_sends_file_name_key_and_options(
    client: Client, gateway: FakeGateway, file: Path
) -> None:
    gateway.on("POST", DOCUMENTS, (202, accepted()))
    counted: list[int] = []
    answer = client.ingest(
        file,
        document_id="doc-1",
        options=IngestOptions(collection="papers"),
        on_bytes=counted.append,
    )
    [seen] = gateway.seen
    assert answer.job_id == "job-1"
    assert seen.form["file"] == file.read_bytes()
    assert seen.form["file_name"].decode() == "보고서.md"
    assert seen.form["document_id"] == b"doc-1"
    assert seen.form["options"] == b'{"collection":"papers"}'
    assert seen.headers["authorization"] == "Bearer gw_test"
    assert counted[-1] == file.stat().st_size


def test_a_busy_gateway_is_asked_again_with_the_same_idempotency_key(
    client: Client, gateway: FakeGateway, file: Path
) -> None:
    busy = (429, problem(429, "too_many_requests", "full"), {"Retry-After": "0"})
    away = (503, problem(503, "bus_away", "away", "world"))
    gateway.on("POST", DOCUMENTS, busy, away, (202, accepted()))
    assert client.ingest(file).job_id == "job-1"
    keys = {seen.headers["idempotency-key"] for seen in gateway.seen}
    assert len(gateway.seen) == 3
    assert len(keys) == 1
    assert all(seen.form["file"] == file.read_bytes() for seen in gateway.seen)


def test_retrying_ends_and_the_problem_is_told(client: Client, gateway: FakeGateway) -> None:
    gateway.on("GET", JOB, (503, problem(503, "store_away", "the catalog is away", "world")))
    with pytest.raises(ApiError, match="store_away: the catalog is away") as raised:
        client.job("job-1")
    assert raised.value.problem.who == "world"
    assert len(gateway.seen) == QUICK.tries


def test_a_refusal_is_not_asked_again(client: Client, gateway: FakeGateway) -> None:
    with pytest.raises(ApiError) as raised:
        client.job("job-1")
    assert raised.value.problem.status == 404
    assert len(gateway.seen) == 1


def test_an_answer_that_is_no_problem_document_still_makes_a_sentence(
    client: Client, gateway: FakeGateway
) -> None:
    gateway.on("GET", JOB, (502, b"<html>"), (500, b"<html>"))
    with pytest.raises(ApiError, match="answered 500 without a problem document"):
        client.job("job-1")


def test_nobody_there_says_what_to_do() -> None:
    with Client("http://127.0.0.1:1", "k", retry=QUICK) as away:
        with pytest.raises(Unreachable, match="make run"):
            away.job("job-1")


def test_what_is_not_repeatable_is_sent_once_when_nobody_answers() -> None:
    tries: list[int] = []

    class Counting(Retry):
        def after_error(self, attempt: int) -> float | None:
            tries.append(attempt)
            return None

    with Client("http://127.0.0.1:1", "k", retry=Counting()) as away:
        with pytest.raises(Unreachable):
            away.create_key("default", "reader")
        assert not tries
        with pytest.raises(Unreachable):
            away.namespaces()
        assert tries == [1]


def test_ids_cannot_leave_their_place_in_the_path(client: Client, gateway: FakeGateway) -> None:
    with pytest.raises(ApiError):
        client.document("../../keys?x=/")
    assert gateway.seen[0].path == f"{DOCUMENTS}/..%2F..%2Fkeys%3Fx%3D%2F"


def test_following_resumes_a_broken_stream_and_ends_with_the_job(
    client: Client, gateway: FakeGateway
) -> None:
    gateway.on(
        "GET",
        EVENTS,
        stream(job("job-1", "waiting"), job("job-1", "running")),
        (503, b""),
        stream(job("job-1", "published")),
    )
    gateway.on("GET", JOB, (200, job("job-1", "running")))
    states = [view.state for view in client.follow("job-1")]
    assert states[:3] == ["waiting", "running", "running"]
    assert states[-1] == "published"
    streams = [seen.headers.get("last-event-id") for seen in gateway.seen if "events" in seen.path]
    assert streams == [None, "2", "2"]


def test_a_job_that_has_nothing_more_to_say_is_asked_for_itself(
    client: Client, gateway: FakeGateway
) -> None:
    gateway.on("GET", EVENTS, (204, b""))
    gateway.on("GET", JOB, (200, job("job-1", "failed")))
    assert client.wait("job-1").state == "failed"


def test_waiting_ends_in_time_and_the_job_goes_on(client: Client, gateway: FakeGateway) -> None:
    gateway.on("GET", EVENTS, stream(job("job-1", "running")))
    gateway.on("GET", JOB, (200, job("job-1", "running")))
    with pytest.raises(WaitTimeout, match="job-1 did not end within 0"):
        client.wait("job-1", seconds=0.05)


def test_a_query_sends_only_what_was_said(client: Client, gateway: FakeGateway) -> None:
    answer = {"run_id": "run-1", "corpus_version": 3, "unknown_later_field": True}
    gateway.on("POST", "/v1/namespaces/default/search", (200, answer))
    assert client.search("제6장 총칙").corpus_version == 3
    assert gateway.seen[0].json == {"query": "제6장 총칙"}
    client.search(SearchRequest(query="q", **{"continue": "run-1"}))
    assert gateway.seen[1].json == {"query": "q", "continue": "run-1"}


def test_metadata_that_is_not_set_stays(client: Client, gateway: FakeGateway) -> None:
    with pytest.raises(ApiError):
        client.describe("doc-1", DocumentMetadata(year=2024, country=None))
    assert gateway.seen[0].json == {"year": 2024, "country": None}


def test_a_large_file_is_never_held_in_memory(gateway: FakeGateway, tmp_path: Path) -> None:
    large = tmp_path / "large.bin"
    with large.open("wb") as out:
        out.truncate(64 << 20)

    class Swallow(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            assert isinstance(request.stream, httpx.SyncByteStream)
            assert sum(map(len, request.stream)) > large.stat().st_size
            return httpx.Response(202, json=accepted())

    with Client(transport=Swallow()) as client:
        tracemalloc.start()
        try:
            client.ingest(large)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 8 << 20


async def test_the_asynchronous_client_does_the_same(
    asynchronous: AsyncClient, gateway: FakeGateway, file: Path
) -> None:
    busy = (429, problem(429, "too_many_requests", "full"))
    gateway.on("POST", DOCUMENTS, busy, (202, accepted()))
    gateway.on("GET", EVENTS, stream(job("job-1", "running"), job("job-1", "published")))
    answer = await asynchronous.ingest(file)
    seen = [view async for view in asynchronous.follow(answer.job_id)]
    assert [view.state for view in seen] == ["running", "published"]
    assert isinstance(seen[-1], JobView)
    assert gateway.seen[1].form["file"] == file.read_bytes()
    assert (await asynchronous.wait("job-1")).state == "published"
