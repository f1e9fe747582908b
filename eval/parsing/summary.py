"""From the figures of files to those of sets, engines, and the summary file."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.parsing.adjacency import f_score
from eval.parsing.model import Score
from eval.parsing.run import Run

SCHEMA_VERSION = 1
WORST = 10


def set_metrics(name: str, scores: Sequence[Score]) -> dict[str, float]:
    """The figures of one set: means over the files that have one, rates over sums of counts."""
    metrics = {key: _mean(scores, key) for key in sorted({k for s in scores for k in s.metrics})}
    total = {k: sum(s.counts.get(k, 0) for s in scores) for s in scores for k in s.counts}
    metrics |= {"files": total.get("files", 0), "failed": total.get("failed", 0)}
    if total.get("pages"):
        metrics["seconds_per_page"] = _rate(total, "seconds", "pages")
    if name == "icdar2013-tables":
        metrics |= _table_metrics(metrics, total)
    if "present_of" in total:
        metrics["strings_found"] = _rate(total, "present", "present_of")
        settled = {**total, "settled": total["present"] + total.get("explained", 0)}
        metrics["strings_settled"] = _rate(settled, "settled", "present_of")
        metrics["strings_kept_out"] = _rate(total, "absent", "absent_of")
    return metrics


def _table_metrics(metrics: dict[str, float], total: dict[str, float]) -> dict[str, float]:
    found = total.get("ruled_found", 0) + total.get("other_found", 0)
    return {
        "cell_f1": f_score(metrics["cell_precision"], metrics["cell_recall"]),
        "cell_f1_pooled": f_score(
            _rate(total, "shared", "predicted"), _rate(total, "shared", "expected")
        ),
        "ruled_recall": _rate(total, "ruled_recall", "ruled_tables"),
        "other_recall": _rate(total, "other_recall", "other_tables"),
        "tables_found": found,
        "tables": total["tables"],
        "predicted_tables": total["predicted_tables"],
        "ruled_tables": total.get("ruled_tables", 0),
        "teds": _rate(total, "teds", "tables"),
    }


def engine_metrics(run: Run) -> dict[str, dict[str, float]]:
    """The figures of every set that the engine read."""
    return {name: set_metrics(name, scores) for name, scores in run.scores.items() if scores}


def headline(by_set: dict[str, dict[str, float]]) -> dict[str, float]:
    """The few figures that stand for the whole run; those of sets that were not run are absent."""
    wanted = {
        "nid": ("opendataloader-rerendered", "nid"),
        "teds": ("opendataloader-rerendered", "teds"),
        "mhs": ("opendataloader-rerendered", "mhs"),
        "cell_f1": ("icdar2013-tables", "cell_f1"),
        "cell_f1_pooled": ("icdar2013-tables", "cell_f1_pooled"),
        "table_recall_ruled": ("icdar2013-tables", "ruled_recall"),
        "table_recall_other": ("icdar2013-tables", "other_recall"),
        "table_teds": ("icdar2013-tables", "teds"),
        "heading_recall": ("manuals", "heading_recall"),
        "heading_precision": ("manuals", "heading_precision"),
        "heading_levels": ("manuals", "heading_levels"),
        "strings_found": ("tika-asserted", "strings_found"),
        "strings_settled": ("tika-asserted", "strings_settled"),
        "markitdown_strings_found": ("markitdown", "strings_found"),
        "markitdown_strings_settled": ("markitdown", "strings_settled"),
        "markitdown_strings_kept_out": ("markitdown", "strings_kept_out"),
        "read": ("docling-tests", "read"),
        "seconds_per_page": ("opendataloader-rerendered", "seconds_per_page"),
        "manuals_seconds_per_page": ("manuals", "seconds_per_page"),
    }
    return {
        name: by_set[set_name][key]
        for name, (set_name, key) in wanted.items()
        if key in by_set.get(set_name, {})
    }


def worst(scores: Sequence[Score], metric: str, count: int = WORST) -> list[Score]:
    """The files with the lowest figure, lowest first; perfect ones are left out."""
    with_it = [s for s in scores if s.metrics.get(metric, 1.0) < 1.0]
    return sorted(with_it, key=lambda s: (s.metrics[metric], s.name))[:count]


def summarise(
    ours: Run, peers: Sequence[Run], *, versions: dict[str, str], absent: dict[str, str],
    skipped: Sequence[str], guard: Run | None = None,
) -> dict[str, Any]:  # fmt: skip
    """The content of `parse_summary.json`."""
    by_set = engine_metrics(ours)
    metrics = headline(by_set)
    if guard is not None:
        hidden = headline(engine_metrics(guard))
        metrics |= {f"{key}_weight_hidden": hidden[key] for key in ("mhs", "nid") if key in hidden}
    return {
        "schema_version": SCHEMA_VERSION,
        "engine": ours.engine,
        "metrics": _rounded(metrics),
        "by_set": {name: _rounded(figures) for name, figures in by_set.items()},
        "by_file": {
            f"{name}/{s.name}": {**_rounded(s.metrics), "notes": s.notes}
            for name, scores in ours.scores.items()
            for s in scores
        },
        "peers": {
            run.engine: {name: _rounded(f) for name, f in engine_metrics(run).items()}
            for run in peers
        },
        "absent_peers": absent,
        "versions": versions,
        "skipped": list(skipped),
    }


def write_summary(folder: Path, summary: dict[str, Any]) -> Path:
    """Write `parse_summary.json` into the folder, made when it is not there."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "parse_summary.json"
    target.write_text(json.dumps(summary, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return target


def _mean(scores: Sequence[Score], key: str) -> float:
    values = [s.metrics[key] for s in scores if key in s.metrics]
    return sum(values) / len(values)


def _rate(total: dict[str, float], part: str, whole: str) -> float:
    return total.get(part, 0) / total[whole] if total.get(whole) else 0.0


def _rounded(figures: dict[str, float]) -> dict[str, float]:
    return {key: round(value, 4) for key, value in figures.items()}
