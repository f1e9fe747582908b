"""`docs/quality.md`, written from a run's summary."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eval.parsing.limits import explanation


@dataclass(frozen=True)
class Bar:
    """One line of the table: what is asked, and what is already to be had elsewhere."""

    set_name: str
    measure: str
    metric: str
    bar: float
    stretch: float | None
    best: str
    ceiling: str


BARS = (
    Bar("opendataloader-rerendered", "NID", "nid", 0.955, 0.962, ".948 opendataloader-pdf", ".969"),
    Bar("opendataloader-rerendered", "TEDS", "teds", 0.98, 0.998, ".951 opendataloader-pdf", "1.0"),
    Bar("opendataloader-rerendered", "MHS", "mhs", 0.91, 0.935, ".751 opendataloader-pdf", ".943"),
    Bar(
        "opendataloader-rerendered", "MHS, font weight hidden", "mhs_weight_hidden",
        0.65, 0.75, "", "unknown",
    ),
    Bar(
        "icdar2013-tables", "cell adjacency F, mean over documents", "cell_f1",
        0.85, 0.90, ".749 camelot hybrid", ".995",
    ),
    Bar(
        "icdar2013-tables", "cell adjacency F, pooled", "cell_f1_pooled",
        0.87, 0.92, ".774 camelot hybrid", ".995",
    ),
    Bar(
        "icdar2013-tables", "recall on ruled tables", "table_recall_ruled",
        0.95, 0.98, ".92 camelot hybrid", "",
    ),
    Bar(
        "icdar2013-tables", "recall on all other tables", "table_recall_other",
        0.78, 0.90, ".74 camelot hybrid", "",
    ),
    Bar("icdar2013-tables", "TEDS", "table_teds", 0.77, 0.85, ".596 liteparse", ".983"),
    Bar("manuals", "heading recall", "heading_recall", 0.95, 0.98, ".92-1.0 liteparse", ""),
    Bar("manuals", "heading precision", "heading_precision", 0.90, 0.96, ".62-.97 liteparse", ""),
    Bar("manuals", "level agreement", "heading_levels", 0.90, 0.96, "liteparse: unstable", ""),
    Bar("tika-asserted", "strings present", "strings_found", 1.0, None, "Tika itself", ""),
    Bar(
        "tika-asserted", "strings present, or explained below", "strings_settled",
        1.0, None, "", "",
    ),
    Bar("markitdown", "strings present", "markitdown_strings_found", 1.0, None, "markitdown", ""),
    Bar(
        "markitdown", "strings present, or explained below", "markitdown_strings_settled",
        1.0, None, "", "",
    ),
    Bar(
        "markitdown", "strings kept out", "markitdown_strings_kept_out",
        1.0, None, "markitdown", "",
    ),
    Bar("docling-tests", "files read, none empty", "read", 1.0, None, "docling", ""),
)  # fmt: skip

PEER_COLUMNS = (
    ("opendataloader-rerendered", "nid", "NID"),
    ("opendataloader-rerendered", "teds", "TEDS"),
    ("opendataloader-rerendered", "mhs", "MHS"),
    ("icdar2013-tables", "cell_f1", "cells, mean"),
    ("icdar2013-tables", "cell_f1_pooled", "cells, pooled"),
    ("icdar2013-tables", "ruled_recall", "ruled"),
    ("icdar2013-tables", "other_recall", "other"),
    ("icdar2013-tables", "teds", "TEDS"),
    ("manuals", "heading_recall", "heading recall"),
    ("manuals", "heading_precision", "heading precision"),
    ("manuals", "heading_levels", "levels"),
    ("tika-asserted", "strings_found", "tika"),
    ("markitdown", "strings_found", "markitdown"),
)

HEAD = """# How well documents are parsed

Written by `python eval/run_parse.py --data ../shared/data --hide-weight --write-docs`; do not
edit. No model takes part. What each figure means, and where its definition comes from, is told
by the docstrings of `eval/parsing/`.

* The redrawn pages (opendataloader-rerendered) set every heading in bold and nothing else, and
  their stream order is the true order; alone they prove little. The row with font weight hidden
  and the manuals are the honest measure.
* The manuals are PDFs of Debian packages (`apt-get install debian-policy developers-reference
  gnuplot-doc r-doc-pdf octave-doc`). They are parsed from copies without an outline; the outline
  is the truth. Precision leaves out what an outline is silent about: headings before its first
  page and below its deepest level.
* A string of another parser's tests counts as found when its text comes out, whatever the
  markup; what names that parser's own markup or exceptions is not asked.
* Times are wall time on the machine of the run, whatever else it did meanwhile.
"""


def render(summary: dict[str, Any]) -> str:
    """The whole document."""
    parts = [HEAD, _bars(summary), _peers(summary), _strings(summary), _structure(summary)]
    if summary["skipped"]:
        parts.append("## Not measured in this run\n\n" + _bullets(summary["skipped"]))
    versions = sorted(summary["versions"].items())
    listed = ", ".join(f"{name} {number}" for name, number in versions)
    parts.append(f"Versions: {listed}.")
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _bars(summary: dict[str, Any]) -> str:
    rows = []
    for bar in BARS:
        ours = summary["metrics"].get(bar.metric)
        shown = "not measured" if ours is None else f"**{_number(ours)}**{_verdict(ours, bar)}"
        rows.append(
            [bar.set_name, bar.measure, f"≥ {_number(bar.bar)}", _number(bar.stretch),
             bar.best, shown, bar.ceiling]
        )  # fmt: skip
    seconds = summary["metrics"].get("seconds_per_page")
    manuals = summary["metrics"].get("manuals_seconds_per_page")
    speed = [
        f"{value:.3f} s a page over the {name}"
        for value, name in ((seconds, "redrawn pages, one a file"), (manuals, "manuals"))
        if value is not None
    ]
    note = f"\n\nTime from the look at the file to its joined rows: {'; '.join(speed)}."
    return (
        "## Figures\n\n"
        + _table(
            ["set", "measure", "bar", "stretch", "ready-made best", "Groundwire", "out of reach"],
            rows,
        )
        + (note if speed else "")
    )


def _verdict(ours: float, bar: Bar) -> str:
    if ours < bar.bar:
        return " (below)"
    return " (stretch)" if bar.stretch is not None and ours >= bar.stretch else ""


def _peers(summary: dict[str, Any]) -> str:
    names = {"Groundwire": summary["by_set"], **summary["peers"]}
    if len(names) == 1 and not summary["absent_peers"]:
        return ""
    columns = [
        c for c in PEER_COLUMNS if any(c[1] in sets.get(c[0], {}) for sets in names.values())
    ]
    rows = [
        [name, *(_number(sets.get(s, {}).get(metric)) for s, metric, _ in columns),
         _number(sets.get("opendataloader-rerendered", {}).get("seconds_per_page"))]
        for name, sets in names.items()
    ]  # fmt: skip
    absent = [f"{name}: {reason}" for name, reason in sorted(summary["absent_peers"].items())]
    return (
        "## Beside others, in the same run\n\n"
        + _table(["engine", *(title for _, _, title in columns), "s a page"], rows)
        + ("\n\n" + _bullets(absent) if absent else "")
    )


def _strings(summary: dict[str, Any]) -> str:
    rows = []
    for name, figures in summary["by_file"].items():
        set_name = name.partition("/")[0]
        if set_name not in ("tika-asserted", "markitdown"):
            continue
        for note in figures["notes"]:
            kind, _, text = note.partition(": ")
            reason = explanation(name, text) if kind != "must not be there" else None
            rows.append([name, kind, f"`{_escape(text)}`", reason or "**open**"])
    if not rows:
        return ""
    return "## Strings that did not come out\n\n" + _table(["file", "", "string", "why"], rows)


def _structure(summary: dict[str, Any]) -> str:
    rows = [
        [name.partition("/")[2], "yes" if figures["read"] else "**no**", figures["notes"][-1]]
        for name, figures in summary["by_file"].items()
        if name.startswith("docling-tests/")
    ]
    if not rows:
        return ""
    told = "Whether they are the right ones: [file by file](quality-docling-tests.md).\n\n"
    table = _table(["file", "read", "rows"], rows)
    return f"## docling's test files, row by row\n\n{told}{table}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"* {line}" for line in lines)


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}".removeprefix("0")


def _escape(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("`", "'")
