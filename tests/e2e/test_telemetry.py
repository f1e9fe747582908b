"""One job is one trace, one query is one trace; metrics count what happened."""

import json
from collections.abc import Iterator

import pytest

from tests.support.documents import MARKDOWN
from tests.support.otlp import Collector, Seen, collector
from tests.support.stack import KEY, Stack, running_stack
from tests.support.waiting import wait_until

PIPELINE = {"gateway", "profiler", "parser", "chunker", "indexer"}


@pytest.fixture(scope="module")
def watched() -> Iterator[tuple[Stack, Collector]]:
    with (
        collector() as spans,
        running_stack(
            OTEL_EXPORTER_OTLP_ENDPOINT=spans.url,
            OTEL_BSP_SCHEDULE_DELAY="100",
        ) as stack,
    ):
        yield stack, spans


def gather(spans: Collector, trace_id: str, complete) -> list[Seen]:
    wait_until(lambda: complete(spans.of_trace(trace_id)), what=f"the whole of trace {trace_id}")
    return spans.of_trace(trace_id)


def orphans(seen: list[Seen], root_parent: str) -> list[tuple[str, str]]:
    """The spans whose parent, but for the caller's own span, is not in the trace."""
    ids = {s.span_id for s in seen}
    return [(s.service, s.name) for s in seen if s.parent_id not in ids | {root_parent}]


def test_one_job_is_one_trace(watched: tuple[Stack, Collector]) -> None:
    stack, spans = watched
    trace_id, caller = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
    with stack.client() as client:
        answer = client.post(
            f"{stack.base}/documents",
            files={"file": ("pump.md", MARKDOWN.encode())},
            headers={"traceparent": f"00-{trace_id}-{caller}-01"},
        )
    stack.wait(answer.json()["job_id"])
    services = {f"groundwire-{s}" for s in PIPELINE}

    def complete(seen: list[Seen]) -> bool:
        """Parents end after their children, and their spans come later."""
        names = {s.name for s in seen}
        whole = services <= {s.service for s in seen} and "process indexer-embed" in names
        return whole and orphans(seen, caller) == []

    seen = gather(spans, trace_id, complete)
    names = {s.name for s in seen}
    for consumer in ("profiler", "parser", "chunker", "indexer", "ledger"):
        assert f"process {consumer}" in names
    assert any(n.startswith("objects.") for n in names)
    assert any(n.startswith("catalog.") for n in names)
    assert "index.write" in names
    assert "graph.write_all" in names


def test_a_failed_job_says_in_which_trace_it_failed(watched: tuple[Stack, Collector]) -> None:
    stack, spans = watched
    trace_id, caller = "5bf92f3577b34da6a3ce929d0e0e4737", "10f067aa0ba902b8"
    with stack.client() as client:
        answer = client.post(
            f"{stack.base}/documents",
            files={"file": ("broken.pdf", b"%PDF-1.7 broken")},
            headers={"traceparent": f"00-{trace_id}-{caller}-01"},
        )
    job = stack.wait(answer.json()["job_id"])
    assert (job["state"], job["error"]["trace_id"]) == ("failed", trace_id)

    def complete(seen: list[Seen]) -> bool:
        return any("error.type" in one.attributes for one in seen)

    gather(spans, trace_id, complete)


def test_one_query_is_one_trace(watched: tuple[Stack, Collector]) -> None:
    stack, spans = watched
    stack.ingest("pump.md", MARKDOWN.encode(), document_id="pump")
    answer = stack.search("grease")
    services = {"groundwire-gateway", "groundwire-planner", "groundwire-retriever"}
    names = {"answer query.plan", "answer query.retrieve", "index.search"}

    def complete(seen: list[Seen]) -> bool:
        return services <= {s.service for s in seen} and names <= {s.name for s in seen}

    gather(spans, answer["trace_id"], complete)


def test_spans_hold_ids_and_never_names_or_text(watched: tuple[Stack, Collector]) -> None:
    stack, spans = watched
    secret = "quokkazanzibar"
    stack.ingest(f"{secret}.md", f"# {secret}\n\n{secret}\n".encode())
    answer = stack.search(secret)
    gather(spans, answer["trace_id"], lambda seen: len(seen) > 3)
    assert not [s for s in spans.spans if secret in s.name or secret in str(s.attributes)]


def metrics(stack: Stack, service: str) -> str:
    """What a service tells who watches it."""
    _, port = stack.services()[service]
    with stack.client() as client:
        return client.get(f"http://127.0.0.1:{port}/metrics").text


def test_metrics_count_deliveries(watched: tuple[Stack, Collector]) -> None:
    stack, _ = watched
    stack.ingest("another.md", b"# Another\n\nOne more page.\n")
    text = metrics(stack, "indexer")
    done = [
        line
        for line in text.splitlines()
        if line.startswith("groundwire_messages_total{")
        and 'consumer="indexer"' in line
        and 'outcome="done"' in line
    ]
    assert float(done[0].rsplit(" ", 1)[1]) >= 1


NAMES, TEXTS, IDS = "canaryname7f3a", "canarytext8e2b", "canaryid9d1c"
"""Secrets in names, in texts, and in document ids."""

CANARY = f"""# The {NAMES} contract

## Payment
The {TEXTS} of {NAMES} is paid within thirty days to Hanbit Energy.

## Termination
Whoever ends the {NAMES} contract tells Hanbit Energy about {TEXTS} three months before.
"""


def redacted(stack: Stack, run_id: str, how: str) -> str:
    """The trace as it may be passed on, once the run is stored."""
    path = f"/runs/{run_id}/trace?redact={how}"
    wait_until(lambda: stack.get(path).status_code != 404, what=path)
    answer = stack.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_secrets_in_names_texts_and_ids_stay_out_of_traces_logs_and_spans(
    watched: tuple[Stack, Collector],
) -> None:
    """Ids may stand in logs and spans, as those that operate the services need them."""
    stack, spans = watched
    options = {"metadata": {"tags": [NAMES], "country": "KR"}}
    for name, data in (
        (f"{NAMES}.md", CANARY.encode()),
        (f"{NAMES}.pdf", b"%PDF-1.7 " + TEXTS.encode()),
    ):
        sent = stack.upload(name, data, document_id=f"{IDS}-{name[-2:]}", **options)
        stack.wait(sent["job_id"])
    turns = [
        {"role": "user", "text": f"Who pays {NAMES}?", "document_ids": [f"{IDS}-md"]},
        {"role": "assistant", "text": f"Hanbit Energy is paid the {TEXTS}."},
    ]
    asked = [
        {"query": f"When is the {TEXTS} of {NAMES} paid?"},
        {"query": f"When is the {TEXTS} of {NAMES} paid?", "mode": "agentic"},
        {"query": f"compare {NAMES} and {TEXTS}", "mode": "agentic", "explain": True},
        {"query": "And how is it ended?", "mode": "agentic", "conversation": turns},
        {"query": f"{NAMES} {TEXTS}", "filters": {"document_ids": [f"{IDS}-md"]}},
    ]
    answers = [stack.search(**one) for one in asked]
    assert any(NAMES in answer["evidence_text"] for answer in answers)
    for answer in answers:
        whole = redacted(stack, answer["run_id"], "all")
        shown = stack.get(f"/runs/{answer['run_id']}/trace").json()["query_rewrite"]
        assert shown["original_query"] in [one["query"] for one in asked]
        assert not [secret for secret in (NAMES, TEXTS, IDS) if secret in whole], whole
        assert IDS not in redacted(stack, answer["run_id"], "doc_ids")
        gather(spans, answer["trace_id"], lambda seen: len(seen) > 2)
    stack.get(f"/documents/{IDS}-md/outline")
    logs = "".join(path.read_text() for path in (stack.data / "logs").glob("*.log"))
    assert "service started" in logs
    told = [f"{s.service} {s.name} {s.attributes}" for s in spans.spans]
    for secret in (NAMES, TEXTS):
        assert secret not in logs
        assert secret not in (stack.data / "up.log").read_text()
        assert [line for line in told if secret in line] == []


def test_secrets_stay_out_of_metrics_problems_and_the_audit_log(
    watched: tuple[Stack, Collector],
) -> None:
    """Ids of documents may stand in the audit log, which is for those that operate them."""
    stack, spans = watched
    broken = stack.upload(f"{NAMES}.pdf", b"%PDF-1.7 " + TEXTS.encode(), document_id=IDS)
    failed = stack.wait(broken["job_id"])
    stack.ingest(f"{NAMES}.md", CANARY.encode(), document_id=f"{IDS}-gone")
    told = [failed["error"]["detail"]]
    base = f"{stack.base}/documents"
    with stack.client() as client:
        asked = [
            client.get(f"{base}/{NAMES}"),
            client.get(f"{base}/{NAMES}/{TEXTS}"),
            client.get(base, params={"cursor": f"{NAMES} {TEXTS}"}),
            client.post(f"{stack.base}/search", json={"query": TEXTS, NAMES: 1, "top_k": TEXTS}),
            client.post(f"{stack.base}/search", content=f'{{"{NAMES}": {TEXTS}'.encode()),
            client.post(f"{stack.base}/grep", json={"pattern": f"({TEXTS}", "regex": True}),
            client.post(base, json={"url": f"http://{NAMES}.invalid/{TEXTS}"}),
            client.post(base, json={"upload_id": f"{NAMES}.{TEXTS}"}),
            client.post(base, data={"options": f'{{"{NAMES}": "{TEXTS}"}}'},
                        files={"file": (f"{NAMES}.md", CANARY.encode())}),
            client.get("/v1/self", headers={"Authorization": f"Bearer {NAMES}{TEXTS}"}),
        ]  # fmt: skip
        for answer in asked:
            assert answer.status_code >= 400, answer.text
            assert answer.headers["content-type"] == "application/problem+json"
            told.append(answer.text)
        assert client.delete(f"{base}/{IDS}-gone").status_code == 202
        kept = client.get("/v1/audit").json()["items"]
        told.append(json.dumps(kept))
        told.append(client.get("/metrics").text)
    assert [entry["target"] for entry in kept] == [f"{IDS}-gone"]
    told += [metrics(stack, name) for name in stack.services()]
    told.append("".join(path.read_text() for path in (stack.data / "logs").glob("*.log")))
    told += [f"{s.name} {s.attributes}" for s in spans.spans]
    secrets = (NAMES, TEXTS, KEY)
    allowed = f"{NAMES}: "
    shown = [text for text in told if any(s in text.replace(allowed, "") for s in secrets)]
    assert shown == []
