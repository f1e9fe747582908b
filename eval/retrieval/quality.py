"""`docs/quality-retrieval.md`, written from the stored baselines of all configurations."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eval.retrieval.baseline import FOLDER
from eval.retrieval.config import load_config

TARGET = Path(__file__).resolve().parents[2] / "docs" / "quality-retrieval.md"

HEAD = """# How well the right evidence is found

Written by `python eval/run_eval.py --config eval/<set>.yaml --write-baseline` from the runs
stored in `eval/baselines/`; do not edit. No language model takes part; the dense channel is the
packaged e5.

* Every set is published through the services of a stack of its own and asked through its API.
  Passages come in as documents of raw fragments, 500 to a document, each a section of its own.
  A passage is found when a piece of it is in the evidence; pieces of one passage count once.
* Judgements are those of the sets, the metrics those of `eval/retrieval/metrics.py`: nDCG@10 as
  trec_eval has it, R@5, and `all@5`, the share of questions with all their evidence in five.
* In brackets: the 95 % interval of the mean by the bootstrap over questions. A difference is
  marked `*` when the interval of the paired differences leaves out zero.
* bm25s (k1 .9, b .4) and tantivy (k1 1.2, b .75) are run beside, over whole passages, with our
  tokens. `--gate` fails on a significant loss against the stored figures.
* Latencies are those of a caller on the machine of the run, two cores that others used as well.
"""
FAR = (
    "The far mark for the multi-hop sets is HippoRAG 2 with a 7B embedder and a graph that a "
    "model built: R@5 of .904 on 2wiki, .963 on hotpot, .747 on musique, as published, over "
    "other questions."
)
SHOWN = ("ndcg@10", "recall@5", "all@5")


def write_quality() -> Path:
    """Write the document; returns where."""
    TARGET.write_text(render(stored_summaries(), not_measured()), "utf-8")
    return TARGET


def not_measured() -> list[str]:
    """Configurations that have no stored run."""
    stored = {path.stem for path in FOLDER.glob("*.json")}
    configs = (load_config(path) for path in sorted(FOLDER.parent.glob("*.yaml")))
    return [config.name for config in configs if config.name not in stored]


def stored_summaries() -> list[dict[str, Any]]:
    """The summaries of all baselines, by name."""
    paths = sorted(FOLDER.glob("*.json"))
    return [json.loads(path.read_text("utf-8"))["summary"] for path in paths]


def render(summaries: Sequence[dict[str, Any]], missing: Sequence[str] = ()) -> str:
    """The whole document; `missing` are configurations without a run."""
    parts = [
        HEAD,
        "## Figures\n\n" + _table(
            ["set", "metric", "bar", "bm25s", "tantivy", "classic", "agentic"],
            [row for one in summaries for row in _figures(one)],
        ),
        FAR,
        "## Differences, question by question\n\n" + _table(
            ["set", "metric", "agentic - classic", "classic - bm25s", "classic - tantivy",
             "agentic - bm25s"],
            [row for one in summaries for row in _differences(one)],
        ),
        _own(summaries),
        "## By group and language\n\n" + _table(
            ["group", "mode", "questions", "nDCG@10", "R@5", "all@5"],
            [row for one in summaries for row in _groups(one)],
        ),
        "## Size, time, tokens\n\n" + _table(
            ["set", "passages", "pieces", "questions", "published in", "mode", "p50", "p95",
             "tokens of evidence"],
            [row for one in summaries for row in _spent(one)],
        ),
        f"Not measured yet: {', '.join(missing)}." if missing else "",
    ]  # fmt: skip
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _sets(summary: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Name and settings of each set that was measured."""
    for settings in summary["settings"]["sets"]:
        if settings["name"] in summary["corpus"]:
            yield settings["name"], settings


def _figures(summary: dict[str, Any]) -> Iterator[list[str]]:
    for name, settings in _sets(summary):
        for metric in SHOWN:
            barred = any(metric in bars for bars in settings["bars"].values())
            if settings["bars"] and not barred:
                continue
            bars = [
                f"{mode} ≥ {_number(values[metric])}"
                for mode, values in settings["bars"].items()
                if metric in values
            ]
            peers = [
                _number(summary["peers"].get(name, {}).get(peer, {}).get(metric))
                for peer in ("bm25s", "tantivy")
            ]
            ours = [
                _measured(summary, name, mode, metric, settings["bars"].get(mode, {}).get(metric))
                for mode in ("classic", "agentic")
            ]
            yield [name, metric, ", ".join(bars), *peers, *ours]


def _measured(summary: dict[str, Any], name: str, mode: str, metric: str, bar: float | None) -> str:
    value = summary["by_group"][name].get(mode, {}).get(metric)
    if value is None:
        return ""
    low, high = summary["intervals"][name][mode][metric]
    below = " (below)" if bar is not None and value < bar else ""
    return f"**{_number(value)}**{below} [{_number(low)}, {_number(high)}]"


def _differences(summary: dict[str, Any]) -> Iterator[list[str]]:
    for name, settings in _sets(summary):
        if settings["kind"] == "cases":
            continue
        for metric in SHOWN:
            found = {
                (one["ours"], one["theirs"]): one
                for one in summary["comparisons"][name]
                if one["metric"] == metric
            }
            pairs = (("agentic", "classic"), ("classic", "bm25s"), ("classic", "tantivy"),
                     ("agentic", "bm25s"))  # fmt: skip
            yield [name, metric, *(_difference(found.get(pair)) for pair in pairs)]


def _difference(one: dict[str, Any] | None) -> str:
    if one is None:
        return ""
    low, high = one["interval"]
    mark = " *" if one["significant"] else ""
    return f"{_signed(one['difference'])}{mark} [{_signed(low)}, {_signed(high)}]"


def _own(summaries: Sequence[dict[str, Any]]) -> str:
    rows = [
        [name, mode, _number(figures.get("abstention")),
         _number(figures.get("comparison_coverage")), _number(figures.get("acc@1"))]
        for summary in summaries
        for name, settings in _sets(summary)
        if settings["kind"] == "cases"
        for mode, figures in summary["by_group"][name].items()
    ]  # fmt: skip
    if not rows:
        return ""
    told = (
        "`abstention` is the share of questions that are answered when the documents answer "
        "them, and declined when they do not; `comparison coverage` the share of compared sides "
        "that the evidence names."
    )
    head = ["set", "mode", "abstention", "comparison coverage", "acc@1"]
    return f"## Our own cases\n\n{told}\n\n" + _table(head, rows)


def _groups(summary: dict[str, Any]) -> Iterator[list[str]]:
    sets = dict(_sets(summary))
    one_language = all(settings["language"] != "mixed" for settings in sets.values())
    for group, modes in summary["by_group"].items():
        if group in sets or (one_language and group.startswith("language:")):
            continue
        for mode, figures in modes.items():
            shown = [_number(figures.get(metric)) for metric in SHOWN]
            if any(shown):
                yield [group, mode, str(figures["cases"]), *shown]


def _spent(summary: dict[str, Any]) -> Iterator[list[str]]:
    for name, _ in _sets(summary):
        corpus = summary["corpus"][name]
        for mode, figures in summary["by_group"][name].items():
            yield [
                name,
                f"{corpus['passages'] or ''}",
                f"{corpus['chunks']}",
                f"{corpus['cases']}",
                f"{seconds:.0f} s" if (seconds := corpus["ingest_seconds"]) else "",
                mode,
                f"{figures['latency_p50_ms']:.0f} ms",
                f"{figures['latency_p95_ms']:.0f} ms",
                f"{figures['tokens']:.0f}",
            ]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}".removeprefix("0")


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("0.", ".", 1)
