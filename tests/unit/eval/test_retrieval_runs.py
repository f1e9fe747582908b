"""From answers of the API to the summary, the gate, and the document."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from eval.retrieval import baseline
from eval.retrieval.config import EvalConfig, SetConfig
from eval.retrieval.measure import Measured
from eval.retrieval.model import Answered, Case, EvalSet, Mode, Passage
from eval.retrieval.quality import TARGET, not_measured, render, stored_summaries
from eval.retrieval.report import summarise
from eval.retrieval.run import ask_all
from eval.retrieval.services import Corpus, section_place
from eval.retrieval.summary import ranking_scores, rounded
from eval.retrieval.traces import write_traces
from libs.client.asynchronous import AsyncClient
from libs.contracts.api.search import Evidence, SearchResponse
from libs.contracts.trace import AnswerSchema, Planner, QueryRewrite, Trace
from tests.support.waiting import PATIENCE

CASES = [
    Case("q1", "first?", {"a": 1, "b": 1}, "en", "two"),
    Case("q2", "둘째?", {"c": 1}, "ko", "one"),
    Case("q3", "none?", {}, "en", "none", abstain=True),
    Case("q4", "X or Y?", {"a": 1}, "en", "compare", sides=("X", "Y")),
]
CONFIG = EvalConfig(
    name="test",
    sets=[SetConfig(name="s", kind="beir", path="s", bars={"classic": {"recall@5": 0.9}})],
    peers=("bm25s",),
)


def answered(mode: Mode, *rankings: tuple[str, ...], **changes: Any) -> list[Answered]:
    covered = [{}, {}, {}, {"X": True, "Y": False}]
    status = ["ok", "ok", changes.get("third", "ok"), "ok"]
    return [
        Answered(case, mode, ranking, status[n], 10.0 * (n + 1), 100, f"run-{n}", covered[n])
        for n, (case, ranking) in enumerate(zip(CASES, rankings, strict=True))
    ]


def measured(**modes: list[Answered]) -> Measured:
    passages = [Passage(p, p, p) for p in "abc"]
    one = Measured(
        CONFIG.sets[0], EvalSet("s", CASES, passages), Corpus(1, 3, 2.0, section_place)
    )  # fmt: skip
    one.answered = dict(modes)  # type: ignore[arg-type]
    judged = [case for case in CASES if case.relevant]
    one.peers = {"bm25s": ranking_scores(judged, [("x", "a"), ("c",), ("a",)])}
    return one


GOOD = answered("classic", ("a", "b"), ("c",), ("x",), ("a",), third="abstained")
WORSE = answered("classic", ("a", "x"), ("x", "c"), ("x",), ("a",))


def test_the_summary_has_metrics_by_mode_and_group() -> None:
    agentic = answered("agentic", ("a", "b"), ("c",), ("x",), ("x", "a"))
    told = summarise("r", CONFIG, [measured(classic=GOOD, agentic=agentic)], [], "all")
    classic = told["metrics"]["classic"]
    assert classic["recall@5"] == classic["all@5"] == classic["ndcg@10"] == 1
    assert classic["abstention"] == 1
    assert classic["comparison_coverage"] == 0.5
    assert (classic["latency_p50_ms"], classic["latency_p95_ms"], classic["tokens"]) == (
        30,
        40,
        100,
    )
    assert told["metrics"]["agentic"]["abstention"] == 0.75
    assert told["metrics"]["agentic"]["acc@1"] == pytest.approx(2 / 3)
    assert told["by_group"]["language:ko"]["classic"]["cases"] == 1
    assert told["by_group"]["s:two"]["classic"]["recall@5"] == 1
    assert "recall@5" not in told["by_group"]["s:none"]["classic"]
    assert told["trace_redaction"] == "all"
    assert told["corpus"]["s"]["chunks"] == 3
    pairs = {(one["ours"], one["theirs"]) for one in told["comparisons"]["s"]}
    assert pairs == {("agentic", "classic"), ("classic", "bm25s"), ("agentic", "bm25s")}
    low, high = told["intervals"]["s"]["classic"]["comparison_coverage"]
    assert low == high == 0.5


def stored(tmp_path: Path, one: Measured) -> dict[str, Any]:
    path = tmp_path / "base.json"
    baseline.store(path, [one], summarise("r", CONFIG, [one], [], None))
    found = baseline.read(path)
    assert found is not None
    return found


def test_a_run_passes_the_gate_of_its_own_figures(tmp_path: Path) -> None:
    base = stored(tmp_path, measured(classic=GOOD))
    verdict = baseline.gate(base, [measured(classic=GOOD)], seed=1)
    assert verdict.losses == []
    assert verdict.compared == 5


def test_the_gate_tells_a_significant_loss(tmp_path: Path) -> None:
    base = stored(tmp_path, measured(classic=GOOD))
    lost = baseline.gate(base, [measured(classic=answered("classic", *[("x",)] * 4))], seed=1)
    assert [line.split(":")[0] for line in lost.losses] == [
        "s classic ndcg@10", "s classic recall@5", "s classic all@5",
    ]  # fmt: skip
    assert baseline.gate(base, [measured(classic=WORSE)], seed=1).losses == []


def test_the_gate_stays_shut_on_what_it_cannot_compare(tmp_path: Path) -> None:
    base = stored(tmp_path, measured(classic=GOOD))
    assert baseline.gate(base, [], seed=1).losses == ["s: not measured"]
    assert all("not measured" in line for line in baseline.gate(base, [measured()], 1).losses)
    other = measured(classic=GOOD)
    other.chosen = EvalSet("s", CASES[:2])
    assert baseline.gate(base, [other], seed=1).losses == ["s: other cases than the baseline's"]
    assert baseline.read(tmp_path / "absent.json") is None


def test_the_document_shows_figures_beside_bars() -> None:
    text = render([rounded(summarise("r", CONFIG, [measured(classic=WORSE)], [], None))])
    row = next(line for line in text.splitlines() if line.startswith("| s | recall@5 | classic"))
    assert row.startswith("| s | recall@5 | classic ≥ .900 | .833 |  | **.833** (below) [")
    assert "| language:ko | classic | 1 | .631 | 1.000 | 1.000 |" in text


def test_the_document_is_that_of_the_stored_runs() -> None:
    assert TARGET.read_text("utf-8") == render(stored_summaries(), not_measured())


def envelope(*files: str, status: str = "ok") -> SearchResponse:
    pieces = [
        Evidence(
            document_id="d", revision=1, chunk_id=f"c{n}", type="text", content="the X works",
            source_file_name=file, section_path=["H"], content_hash="h", score=1.0,
        )
        for n, file in enumerate(files)
    ]  # fmt: skip
    return SearchResponse(
        status=status,  # type: ignore[arg-type]
        run_id="run-1", corpus_version=1, evidence=pieces, evidence_text="four words of text",
    )  # fmt: skip


async def test_cases_are_asked_and_places_counted_once() -> None:
    bodies: list[dict[str, Any]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        bodies.append(json.loads(request.content))
        found = envelope("a.md", "b.md", "a.md")
        return httpx.Response(200, content=found.model_dump_json())

    settings = SetConfig(name="s", kind="cases", path="p", top_k=7)
    case = Case("q", "X or Y?", {"b.md#H": 1}, "en", "g", sides=("X", "Y"))
    async with AsyncClient("http://x", "k", "s", transport=httpx.MockTransport(answer)) as client:
        (one,) = await ask_all(
            client, [case], "agentic", settings, section_place, lambda t: len(t.split()), 2
        )
    assert one.ranking == ("a.md#H", "b.md#H")
    assert one.tokens == 4
    assert one.covered == {"X": True, "Y": False}
    assert (bodies[0]["mode"], bodies[0]["top_k"]) == ("agentic", 7)


async def test_traces_are_asked_for_redacted_and_waited_for(tmp_path: Path) -> None:
    asked: list[str] = []
    trace = Trace(
        run_id="run-0",
        trace_id=None,
        query_rewrite=QueryRewrite(original_query="<redacted>", resolved_query="<redacted>"),
        planner=Planner(
            pipeline="classic", strategy="fusion", stage_sequence=[], selected_stage="strict",
            selected_top_k=1, attempts=[],
        ),
        answer_schema=AnswerSchema(status="ok", query_type="single_doc", claim_count=0),
    )  # fmt: skip

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        if len(asked) == 1:
            problem = {
                "type": "x",
                "title": "t",
                "status": 404,
                "code": "not_found",
                "who": "caller",
            }
            return httpx.Response(404, json=problem)
        return httpx.Response(200, content=trace.model_dump_json())

    one = GOOD[0]
    async with AsyncClient("http://x", "k", "s", transport=httpx.MockTransport(answer)) as client:
        await asyncio.wait_for(write_traces(client, "s", [one], tmp_path, "all"), PATIENCE)
    assert [url.partition("/runs/")[2] for url in asked] == ["run-0/trace?redact=all"] * 2
    written = json.loads((tmp_path / "s.q1.classic.trace.json").read_text("utf-8"))
    assert written["query_rewrite"]["original_query"] == "<redacted>"
