"""What the real Jaeger has of a job and of a query: one trace each, unbroken."""

import secrets

import httpx

from tests.support.documents import MARKDOWN, manual_pdf
from tests.support.jaeger import Trace, wait_for_trace
from tests.support.proxy import Proxy
from tests.support.servers import Servers
from tests.support.stack import Stack
from tests.support.waiting import until

PIPELINE = {"gateway", "profiler", "parser", "chunker", "indexer"}
STEPS = {
    "process profiler", "process parser", "process chunker", "process indexer",
    "process indexer-embed", "process ledger",
}  # fmt: skip
WRITES = {"objects.put", "objects.copy", "catalog.chunks.stage", "index.write", "graph.write_all"}


def upload(
    stack: Stack, name: str, data: bytes, document_id: str, *, sampled: bool = True
) -> tuple[str, str, str]:
    """Send a file within a trace of the caller's: (job id, trace id, the caller's span id)."""
    trace_id, caller = secrets.token_hex(16), secrets.token_hex(8)
    with stack.client() as client:
        answer = client.post(
            f"{stack.base}/documents",
            files={"file": (name, data)},
            data={"document_id": document_id},
            headers={"traceparent": f"00-{trace_id}-{caller}-{int(sampled):02}"},
        )
    assert answer.status_code == 202, answer.text
    return answer.json()["job_id"], trace_id, caller


def whole(caller: str | None, *names: str):
    """Whether a trace has come in: spans of these names, and every parent."""
    return lambda trace: set(names) <= trace.names() and not trace.orphans(caller)


def test_one_job_is_one_trace_over_all_services_and_stores(stack: Stack, servers: Servers) -> None:
    job_id, trace_id, caller = upload(stack, "turbine.pdf", manual_pdf(), "traced")
    assert stack.wait(job_id, 120)["state"] == "published"
    trace = wait_for_trace(
        servers["jaeger"].addresses["query"],
        trace_id,
        whole(caller, *STEPS, *WRITES, "process parser-join", "child parse"),
    )
    assert trace.services() == PIPELINE
    by_id = {span.span_id: span for span in trace.spans}
    for span in trace.spans:
        if span.name in WRITES:
            assert span.tags["span.kind"] == "client"
            assert by_id[span.parent_id].service == span.service
    shards = trace.named("process parser")
    assert len(shards) == 2
    children = trace.named("child parse")
    assert {child.parent_id for child in children} == {shard.span_id for shard in shards}
    assert len({child.tags["process.pid"] for child in children}) == 2
    assert [child.tags["process.exit.code"] for child in children] == [0, 0]
    ends = [by_id[shard.parent_id] for shard in shards]
    assert [end.name for end in ends] == ["publish profiler.sharded"] * 2
    assert len({end.parent_id for end in ends}) == 1


def failed(trace: Trace) -> bool:
    """Whether a delivery to the indexer has come in that met a fault."""
    return any(event[0] == "fault" for s in trace.named("process indexer") for event in s.events)


def test_a_retry_is_an_event_in_the_same_trace(
    stack: Stack, servers: Servers, search_proxy: Proxy
) -> None:
    search_proxy.cut()
    job_id, trace_id, caller = upload(stack, "pump.md", MARKDOWN.encode(), "retried")
    query = servers["jaeger"].addresses["query"]
    try:
        wait_for_trace(query, trace_id, failed)
    finally:
        search_proxy.restore()
    assert stack.wait(job_id, 120)["state"] == "published"
    trace = wait_for_trace(query, trace_id, whole(caller, *STEPS, "index.write"))
    tries = [s for n in ("process indexer", "process indexer-again") for s in trace.named(n)]
    outcomes = [span.tags["groundwire.outcome"] for span in tries]
    assert outcomes.count("done") == 1
    assert outcomes.count("retry") == len(outcomes) - 1 >= 1
    for span in tries:
        faults = [fields for name, fields in span.events if name == "fault"]
        if span.tags["groundwire.outcome"] == "retry":
            assert [(f["kind"], f["code"]) for f in faults] == [("world", "store_away")]
            assert span.tags["error"] is True
        else:
            assert faults == []


def test_of_a_trace_that_is_not_sampled_the_failed_delivery_is_kept(
    stack: Stack, servers: Servers, search_proxy: Proxy
) -> None:
    search_proxy.cut()
    job_id, trace_id, _ = upload(stack, "pump.md", MARKDOWN.encode(), "unsampled", sampled=False)
    query = servers["jaeger"].addresses["query"]
    try:
        trace = wait_for_trace(query, trace_id, failed)
    finally:
        search_proxy.restore()
    assert stack.wait(job_id, 120)["state"] == "published"
    assert trace.services() == {"indexer"}
    tries = {span.span_id for span in trace.named("process indexer")}
    below = {span.name for span in trace.spans if span.parent_id in tries}
    assert {"catalog.jobs.standing", "objects.get"} <= below


def test_one_query_is_one_trace_across_services_and_stores(stack: Stack, servers: Servers) -> None:
    stack.ingest("pump.md", MARKDOWN.encode(), document_id="asked")
    answer = stack.search("where is grease LGMT-3 used")
    names = ("answer query.plan", "answer query.retrieve", "index.search")
    trace = wait_for_trace(
        servers["jaeger"].addresses["query"], answer["trace_id"], whole(None, *names)
    )
    assert {"gateway", "planner", "retriever"} <= trace.services()
    assert len(trace.roots()) == 1
    assert trace.roots()[0].service == "groundwire-gateway"
    assert any(name.startswith("catalog.") for name in trace.names())
    parents = {s.span_id: s for s in trace.spans}
    (asked,) = trace.named("answer query.retrieve")
    assert parents[asked.parent_id].service == "groundwire-planner"


async def test_store_calls_are_counted_by_outcome(stack: Stack) -> None:
    stack.ingest("counted.md", b"# Counted\n\nOne more page.\n", document_id="counted")
    _, port = stack.services()["indexer"]

    def counted() -> set[str]:
        lines = httpx.get(f"http://127.0.0.1:{port}/metrics").text.splitlines()
        mine = [line for line in lines if line.startswith("groundwire_store_seconds_count{")]
        return {line.split('store="')[1].split('"')[0] for line in mine if 'outcome="ok"' in line}

    await until(lambda: {"objects", "catalog.documents", "index", "graph"} <= counted())
