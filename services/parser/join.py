"""Shards become one document: order, heading levels, page furniture. Pure, in two passes.

The first pass keeps a light record of the short rows (`Survey`), the second rewrites row
after row (`Plan`), so that a document of any length needs little memory.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import OutlineEntry, Profile
from libs.contracts.artefacts.rows import Row
from services.parser.contents import contents
from services.parser.continued import Continued, join_tables
from services.parser.echoes import Demotion, chapter_words, echoes
from services.parser.furniture import Edges
from services.parser.levels import level_headings
from services.parser.lines import SHORT, Decision, Line, line_of
from services.parser.outline import Matches, match

FLAT_STRUCTURE = "flat_structure"
STRUCTURED = frozenset(
    {
        "pdf",
        "docx",
        "doc",
        "rtf",
        "odt",
        "hwp",
        "hwpx",
        "html",
        "md",
        "txt",
        "pptx",
        "ppt",
        "odp",
        "epub",
    }
)
LONG_ENOUGH = 20
"""Rows from which a document of such a format without any heading deserves a warning."""


@dataclass
class Plan:
    """What becomes of each row, by its index over the whole document."""

    decisions: dict[int, Decision] = field(default_factory=dict)
    markers: dict[int, str] = field(default_factory=dict)
    demoted: dict[int, Demotion] = field(default_factory=dict)
    dropped: set[int] = field(default_factory=set)
    before_page: dict[int, list[OutlineEntry]] = field(default_factory=dict)
    tables: dict[int, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def apply(self, rows: Iterable[Row]) -> Iterator[Row]:
        """The joined rows; who keeps them counts their `order` anew."""
        return join_tables(self._kept(rows), self.tables)

    def _kept(self, rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
        """The rows that are left, as they will be, by their index; -1 for new ones."""
        waiting = sorted(self.before_page)
        for index, row in enumerate(rows):
            while waiting and row.page is not None and row.page >= waiting[0]:
                for entry in self.before_page[waiting.pop(0)]:
                    yield -1, _heading_of(entry)
            if index not in self.dropped:
                yield index, self._changed(row, index)
        for page in waiting:
            for entry in self.before_page[page]:
                yield -1, _heading_of(entry)

    def _changed(self, row: Row, index: int) -> Row:
        if (kind := self.demoted.get(index)) is not None:
            changes = {"kind": kind, "level": None, "evidence": None, "asset": None}
            return row.model_copy(update=changes)
        if (decision := self.decisions.get(index)) is not None:
            return row.model_copy(
                update={
                    "kind": "heading",
                    "level": decision.level,
                    "evidence": decision.evidence,
                    "text": decision.text or row.text,
                    "marker": self.markers.get(index, row.marker),
                }
            )
        return row


class Survey:
    """The first pass: `see` every row in order, then `settle`."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._paged = profile.format == "pdf"
        self._lines: list[Line] = []
        self._edges = Edges()
        self._tables = Continued()
        self._rows = 0
        self._headings = 0
        self._attached = 0

    def see(self, row: Row) -> None:
        """Take note of the next row."""
        index, self._rows = self._rows, self._rows + 1
        self._headings += row.kind == "heading"
        if row.hidden or row.kind in ("page_header", "page_footer") or not self._paged:
            return
        if row.page is None:
            # of a file inside the PDF, whose own strategy has decided its levels
            self._attached += row.kind == "heading"
            return
        self._tables.see(row, index)
        line = line_of(row, index)
        self._edges.see(line, row.asset)
        if row.kind == "toc" or (len(row.text) <= SHORT and row.kind not in ("table", "image")):
            self._lines.append(line)

    def settle(self) -> Plan:
        """The plan for the second pass."""
        if not self._paged:
            return Plan(findings=self._flat(self._headings))
        plan = Plan(demoted={**self._edges.furniture()})
        lines = [x for x in self._lines if x.index not in plan.demoted]
        matches = self._matches(lines)
        plan.dropped = matches.joined
        plan.demoted |= echoes(lines, matches.decisions, self._edges.side_of)
        words, plan.markers = chapter_words(lines, matches.decisions)
        plan.demoted |= words
        plan.tables = self._tables.chains(plan.demoted)
        gone = plan.demoted.keys() | plan.dropped
        headings = [x for x in lines if x.kind == "heading" and x.index not in gone]
        plan.decisions = {**matches.decisions, **level_headings(headings, matches.decisions)}
        if not plan.decisions:
            plan.before_page = _by_page(self._profile.outline)
        plan.findings = self._flat(len(plan.decisions) + len(plan.before_page) + self._attached)
        if matches.missing:
            plan.findings.append(
                Finding(
                    code="outline_unmatched",
                    detail="entries of the embedded outline were not found in the text",
                    count=len(matches.missing),
                )
            )
        return plan

    def _matches(self, lines: Sequence[Line]) -> Matches:
        if self._profile.outline:
            return match(self._profile.outline, lines, "outline")
        found = match(contents(lines), lines, "toc")
        return Matches(found.decisions, found.joined)

    def _flat(self, headings: int) -> list[Finding]:
        if headings:
            return []
        expected = self._profile.format in STRUCTURED and self._rows >= LONG_ENOUGH
        return [
            Finding(
                code=FLAT_STRUCTURE,
                detail="no heading was found: the document is one section",
                severity="warning" if expected else "info",
            )
        ]


def merge_findings(shards: Iterable[Sequence[Finding]], joined: Sequence[Finding]) -> list[Finding]:
    """The findings of all shards and of the join, equal ones counted.

    Whether the structure is flat is for the whole document to say.
    """
    merged: dict[tuple[str, str, int | None], Finding] = {}
    kept = [f for findings in shards for f in findings if f.code != FLAT_STRUCTURE]
    for finding in (*kept, *joined):
        key = (finding.code, finding.detail, finding.page)
        if key in merged:
            count = merged[key].count + finding.count
            merged[key] = finding.model_copy(update={"count": count})
        else:
            merged[key] = finding
    return list(merged.values())


def _by_page(outline: Sequence[OutlineEntry]) -> dict[int, list[OutlineEntry]]:
    pages: dict[int, list[OutlineEntry]] = {}
    for entry in outline:
        if entry.page is not None:
            pages.setdefault(entry.page, []).append(entry)
    return pages


def _heading_of(entry: OutlineEntry) -> Row:
    """A heading that only the outline knows, at the top of its page."""
    return Row(
        order=0, kind="heading", text=entry.title, level=entry.level,
        evidence="outline", page=entry.page,
    )  # fmt: skip
