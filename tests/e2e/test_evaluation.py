"""The retrieval evaluation from its command line, over our own cases."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from libs.contracts.trace import Trace

ROOT = Path(__file__).resolve().parents[2]
CONFIG = """
name: of-this-test
embedder: seeded
peers: []
sets:
  - {{name: own, kind: cases, path: {cases}, limit: 3}}
  - {{name: absent, kind: beir, path: no-such-set}}
"""


def evaluate(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    config = folder / "config.yaml"
    config.write_text(CONFIG.format(cases=ROOT / "eval" / "data" / "cases.yaml"), "utf-8")
    command = [sys.executable, "eval/run_eval.py", "--config", str(config)]
    return subprocess.run(
        [*command, "--out", str(folder), "--run", "r", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip


@pytest.mark.slow
def test_a_run_writes_traces_and_a_summary(tmp_path: Path) -> None:
    done = evaluate(tmp_path, "--redact_trace", "all", "--gate")
    assert done.returncode == 1, done.stderr
    assert "no baseline" in done.stdout
    assert "skipped: absent: no no-such-set here" in done.stdout
    run = tmp_path / "traces" / "r"
    summary = json.loads((run / "eval_summary.json").read_text("utf-8"))
    assert json.loads((tmp_path / "eval_summary.json").read_text("utf-8")) == summary
    for mode in ("classic", "agentic"):
        assert {"ndcg@10", "recall@5", "all@5", "mrr@10", "acc@1"} <= summary["metrics"][
            mode
        ].keys()
        assert summary["metrics"][mode]["acc@5"] > 0
    assert summary["trace_redaction"] == "all"
    assert summary["corpus"]["own"]["documents"] == 9
    assert summary["gate"]["passed"] is False
    assert summary["settings"]["embedder"] == "seeded"
    traces = sorted(run.glob("*.trace.json"))
    assert len(traces) == 2 * 3
    lines = (run / "cases.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["mode"] for line in lines] == ["classic"] * 3 + ["agentic"] * 3
    for path in traces:
        trace = Trace.model_validate_json(path.read_text("utf-8"))
        assert trace.query_rewrite.original_query == "<redacted>"
        assert trace.planner.pipeline == path.name.split(".")[2]


def test_a_configuration_without_any_set_here_measures_nothing(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("name: x\nsets: [{name: s, kind: beir, path: absent}]\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "eval/run_eval.py", "--config", str(config), "--out", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 2
    assert "nothing to measure" in done.stderr
