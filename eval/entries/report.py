"""A run's report: `entries.json`, `entries.md`, `entries.xlsx`."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.entries.figures import COMPARED, FIGURES, Case, against, mean, summary
from eval.entries.measure import DEFAULTS
from eval.entries.workbook import write_workbook
from eval.retrieval.bootstrap import Interval


def report_of(
    entries: int,
    cases: Mapping[str, Sequence[Case]],
    absent: Sequence[str],
    tokenizers: Mapping[str, Sequence[Case] | None],
) -> dict[str, Any]:
    """What was measured; `absent` are the settings that nothing is configured for."""
    base = cases[DEFAULTS]
    return {
        "entries": entries,
        "questions": len(base),
        "settings": {name: summary(found) for name, found in cases.items()},
        "against_defaults": {
            name: _intervals(against(found, base))
            for name, found in cases.items()
            if name != DEFAULTS
        },
        "not_configured": list(absent),
        "tokenizers": {
            name: found and mean([case.figures for case in found])
            for name, found in tokenizers.items()
        },
        "defaults_against_bm25": {
            name: _intervals(against(base, found)) for name, found in tokenizers.items() if found
        },
    }


def _intervals(found: Mapping[str, Interval]) -> dict[str, dict[str, float]]:
    return {
        name: {"mean": round(i.mean, 4), "low": round(i.low, 4), "high": round(i.high, 4)}
        for name, i in found.items()
    }


def markdown(report: Mapping[str, Any]) -> str:
    """The report as tables."""
    lines = [
        f"{report['entries']} entries, {report['questions']} questions",
        "",
        *_table("settings", report["settings"]),
    ]
    if report["not_configured"]:
        lines += ["", f"Not measured, no model configured: {', '.join(report['not_configured'])}."]
    defaults = report["settings"][DEFAULTS]
    for title, key in (("popularity", "by_popularity"), ("source of the question", "by_source")):
        lines += ["", *_table(title, defaults[key])]
    lines += _differences("against the defaults", report["against_defaults"])
    known = {name: found for name, found in report["tokenizers"].items() if found}
    if known:
        lines += ["", *_table("BM25 alone, tokens by", known)]
    lines += _differences("the defaults against BM25 by", report["defaults_against_bm25"])
    lines += [
        f"\n{name}: not installed." for name, found in report["tokenizers"].items() if found is None
    ]
    return "\n".join(lines) + "\n"


def write(report: Mapping[str, Any], cases: Mapping[str, Sequence[Case]], folder: Path) -> None:
    """The three files, in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(report, ensure_ascii=False, indent=2)
    (folder / "entries.json").write_text(text + "\n", encoding="utf-8")
    (folder / "entries.md").write_text(markdown(report), encoding="utf-8")
    write_workbook(folder / "entries.xlsx", report, cases)


def into_docs(path: Path, name: str, text: str) -> None:
    """Put the report of a set between its marks in a document, at its end the first time."""
    begin, end = f"<!-- set: {name} -->", f"<!-- end: {name} -->"
    held = path.read_text(encoding="utf-8")
    section = f"{begin}\n\n## {name}\n\n{text}\n{end}"
    if begin in held and end in held:
        before, _, rest = held.partition(begin)
        held = before + section + rest.partition(end)[2]
    else:
        held = f"{held.rstrip()}\n\n{section}\n"
    path.write_text(held, encoding="utf-8")


def _table(title: str, rows: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [
        f"| {title} | {' | '.join(map(_head, FIGURES))} |",
        "| --- |" + " --- |" * len(FIGURES),
        *(
            f"| {name} | " + " | ".join(f"{found[n]:.3f}" for n in FIGURES) + " |"
            for name, found in rows.items()
        ),
    ]


def _differences(title: str, rows: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    if not rows:
        return []
    heads = f"| {title} | {' | '.join(map(_head, COMPARED))} |"
    return [
        "",
        heads,
        "| --- |" + " --- |" * len(COMPARED),
        *(
            f"| {name} | " + " | ".join(_signed(found[n]) for n in COMPARED) + " |"
            for name, found in rows.items()
        ),
    ]


def _head(figure: str) -> str:
    return figure.replace("acc", "Acc").replace("mrr", "MRR").replace("ndcg", "nDCG")


def _signed(found: Mapping[str, float]) -> str:
    return f"{found['mean']:+.3f} [{found['low']:+.3f}, {found['high']:+.3f}]"
