"""The join: levels over the whole document, furniture, contents, order, findings."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.artefacts.diagnostics import Finding
from libs.contracts.artefacts.profile import Format, OutlineEntry, Profile
from libs.contracts.artefacts.rows import Box, Row
from services.parser.join import Survey, merge_findings
from services.parser.levels import level_headings
from services.parser.lines import line_of
from services.parser.rowfile import read_rows, write_rows


def profile(kind: Format = "pdf", outline: Sequence[tuple[int, str, int | None]] = ()) -> Profile:
    return Profile(
        format=kind, media_type="x/y", file_name="a", size=1, sha256="0" * 64, page_count=9,
        outline=[OutlineEntry(level=level, title=t, page=p) for level, t, p in outline],
    )  # fmt: skip


def row(kind: Any, text: str = "", page: int | None = 1, y: float = 300, **more: Any) -> Row:
    boxes = [Box(page=page, bbox=(more.pop("x", 72), y, 400, y + 10))] if page else []
    return Row(order=0, kind=kind, text=text, page=page, boxes=boxes, **more)


def font(text: str, size: float, page: int = 1, *, bold: bool = True, y: float = 300) -> Row:
    more = {"level": 1, "evidence": "font", "font_size": size, "bold": bold}
    return row("heading", text, page, y, **more)


def numbered(text: str, size: float = 14, page: int = 1, *, bold: bool = True) -> Row:
    return font(text, size, page, bold=bold).model_copy(update={"evidence": "numbering"})


def join(rows: Sequence[Row], **more: Any) -> tuple[list[Row], list[Finding]]:
    survey = Survey(profile(**more))
    for one in rows:
        survey.see(one)
    plan = survey.settle()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        write_rows(path, plan.apply(rows))
        return list(read_rows([path])), plan.findings


def levels(rows: Sequence[Row]) -> list[tuple[str, int | None, str | None]]:
    return [(r.text, r.level, r.evidence) for r in rows if r.kind == "heading"]


def test_the_outline_is_the_truth_and_its_rows_need_not_have_looked_like_headings() -> None:
    joined, findings = join(
        [
            font("1 Start", 20, 1),
            row("paragraph", "Some text.", 1),
            row("paragraph", "1.1   First Steps", 2),
            font("Aside", 11, 2, bold=False),
            font("Second", 20, 3),
        ],
        outline=[(1, "Start", 1), (3, "1.1 First steps", 2), (1, "SECOND", 4), (2, "Gone", 4)],
    )
    assert levels(joined) == [
        ("1 Start", 1, "outline"),
        ("1.1   First Steps", 3, "outline"),
        ("Aside", 2, "font"),
        ("Second", 1, "outline"),
    ]
    assert [(f.code, f.count) for f in findings] == [("outline_unmatched", 1)]


def test_two_rows_that_are_one_title_become_one_heading() -> None:
    joined, _ = join(
        [font("Chapter 3", 12), font("Storage of goods", 20), row("paragraph", "Text.")],
        outline=[(1, "Chapter 3 Storage of Goods", 1)],
    )
    assert levels(joined) == [("Chapter 3 Storage of goods", 1, "outline")]
    assert [r.order for r in joined] == [0, 1]


def test_words_before_a_chapters_title_are_its_marker() -> None:
    joined, _ = join(
        [font("CHAPTER", 10), font("ONE", 14), font("ABOUT THIS MANUAL", 14)],
        outline=[(1, "About this manual", 1)],
    )
    assert [r.kind for r in joined] == ["page_header", "page_header", "heading"]
    assert joined[2].marker == "CHAPTER ONE"


def test_contents_and_running_heads_that_echo_the_outline_are_no_headings() -> None:
    entries = [(1, f"Subject {name}", 3 + n) for n, name in enumerate(("one", "two", "three"))]
    rows = [font(f"Subject {n} {p}", 10, 1) for n, p in (("one", 3), ("two", 4), ("three", 5))]
    for _, title, page in entries:
        rows += [font(title, 20, page, y=200), row("paragraph", "Text.", page, 300)]
    rows.append(font("Subject two", 9, 5, y=20))
    joined, _ = join(rows, outline=entries)
    assert [r.kind for r in joined[:3]] == ["toc"] * 3
    assert joined[-1].kind == "page_header"
    assert [r.text for r in joined if r.kind == "heading"] == [t for _, t, _ in entries]


def test_a_subheading_that_repeats_an_outlined_title_elsewhere_stays() -> None:
    rows = [
        font("Examples", 16, 1, y=100),
        *(row("paragraph", "x", 2, y) for y in (50, 80, 700, 750)),
        font("Examples", 12, 2, y=400),
    ]
    joined, _ = join(rows, outline=[(1, "Examples", 1)])
    assert ("Examples", 2, "font") in levels(joined)


def test_without_an_outline_the_contents_page_says_the_levels() -> None:
    rows = [
        row("toc", "Harbour ........ 3", x=72),
        row("toc", "Piers .......... 4", x=90),
        row("toc", "Cranes ......... 6", x=90),
        font("Harbour", 12, 3),
        font("Piers", 12, 4),
        font("Cranes", 12, 6),
    ]
    joined, findings = join(rows)
    assert levels(joined) == [("Harbour", 1, "toc"), ("Piers", 2, "toc"), ("Cranes", 2, "toc")]
    assert findings == []


def test_numbers_decide_before_fonts() -> None:
    joined, _ = join(
        [
            numbered("제1장 총칙", 12),
            numbered("제1조 목적", 14),
            numbered("제2조 정의", 14),
            numbered("제2장 안전", 12),
            numbered("제3조 점검", 14),
        ]
    )
    assert [level for _, level, _ in levels(joined)] == [1, 2, 2, 1, 2]


def test_a_document_that_begins_in_the_middle_keeps_the_depth_of_its_numbers() -> None:
    joined, _ = join([numbered("5.1.3 A"), numbered("5.2 B"), numbered("6 C"), numbered("6.1 D")])
    assert [level for _, level, _ in levels(joined)] == [3, 2, 1, 2]


def test_unnumbered_headings_take_the_level_of_those_that_look_the_same() -> None:
    joined, _ = join(
        [font("Abstract", 14), numbered("1 Introduction", 14), numbered("1.1 Aim", 12),
         font("Remark", 10), font("References", 14)]
    )  # fmt: skip
    assert [level for _, level, _ in levels(joined)] == [1, 1, 2, 3, 1]


def test_fonts_alone_give_at_most_six_levels_and_near_sizes_are_one() -> None:
    joined, _ = join(
        [font(f"Heading {size}", size) for size in (30, 29, 25, 20, 17, 14, 12, 10, 8)]
    )
    assert [level for _, level, _ in levels(joined)] == [1, 1, 2, 3, 4, 5, 6, 6, 6]
    assert {evidence for _, _, evidence in levels(joined)} == {"font"}


def test_levels_of_styles_and_markup_are_kept() -> None:
    rows = [
        row("heading", "Title", None, level=1, evidence="markup"),
        row("heading", "Deep", None, level=5, evidence="markup"),
    ]
    joined, _ = join(rows, kind="md")
    assert levels(joined) == [("Title", 1, "markup"), ("Deep", 5, "markup")]


def test_headings_of_a_file_inside_keep_their_levels() -> None:
    rows = [
        font("Big", 20), font("Small", 12, 2), row("heading", "inner.docx", None, level=1,
        evidence="markup"), row("heading", "1.1 Within", None, level=2, evidence="style"),
    ]  # fmt: skip
    joined, _ = join(rows)
    assert [(r.text, r.level, r.evidence) for r in joined[2:]] == [
        ("inner.docx", 1, "markup"), ("1.1 Within", 2, "style"),
    ]  # fmt: skip
    _, findings = join([row("paragraph", "words"), *rows[2:]])
    assert findings == []


def test_an_outline_that_nothing_matches_still_gives_a_structure() -> None:
    rows = [row("image", page=p, asset=f"assets/images/{p}.png") for p in (1, 2, 3)]
    joined, findings = join(rows, outline=[(1, "Front", 1), (2, "Back", 3), (1, "After", 9)])
    assert [(r.kind, r.text, r.page) for r in joined] == [
        ("heading", "Front", 1), ("image", "", 1), ("image", "", 2),
        ("heading", "Back", 3), ("image", "", 3), ("heading", "After", 9),
    ]  # fmt: skip
    assert [r.order for r in joined] == list(range(6))
    assert [f.code for f in findings] == ["outline_unmatched"]


@pytest.mark.parametrize(("count", "severity"), [(30, "warning"), (3, "info")])
def test_a_document_without_headings_says_that_it_is_flat(count: int, severity: str) -> None:
    _, findings = join([row("paragraph", f"Text {n}.", y=n) for n in range(count)])
    assert [(f.code, f.severity) for f in findings] == [("flat_structure", severity)]


def test_running_heads_feet_and_logos_are_furniture() -> None:
    rows: list[Row] = []
    for page in range(1, 7):
        rows += [
            row(
                "heading", "Port authority report", page, 20, level=1, evidence="font", font_size=9
            ),
            row("image", "", page, 15, asset="assets/images/logo.png"),
            row("paragraph", "The tide falls. " * page, page, 300),
            row("paragraph", "Another line of text in the middle.", page, 320 + 30 * page),
            row("paragraph", "Third line, the same on each.", page, 400 + 40 * page),
            row("paragraph", f"- {page} -", page, 800),
        ]
    joined, _ = join(rows)
    assert [r.kind for r in joined[:6]] == [
        "page_header", "page_header", "paragraph", "paragraph", "paragraph", "page_footer",
    ]  # fmt: skip
    assert joined[0].level is None
    assert all(r.asset is None for r in joined)
    assert not any(r.kind == "heading" for r in joined)


def test_heads_of_odd_and_even_pages_are_furniture_but_two_pages_prove_nothing() -> None:
    def pages(count: int) -> list[Row]:
        names = {0: "Volume two", 1: "Tides"}
        return [
            one
            for page in range(1, count + 1)
            for one in (
                row("paragraph", names[page % 2], page, 20),
                row("paragraph", "High water. " * page, page, 300),
            )
        ]

    assert [r.kind for r in join(pages(8))[0][:2]] == ["page_header", "paragraph"]
    assert not [r for r in join(pages(2))[0] if r.kind == "page_header"]


def test_findings_of_shards_are_counted_and_flatness_is_the_documents() -> None:
    one = Finding(code="hidden_text", detail="hidden", count=2)
    flat = Finding(code="flat_structure", detail="a shard has none")
    merged = merge_findings([[one, flat], [one]], [])
    assert [(f.code, f.count) for f in merged] == [("hidden_text", 4)]


rows_strategy = st.lists(
    st.builds(
        row,
        st.sampled_from(["heading", "paragraph", "toc", "image", "list_item", "table"]),
        st.text(max_size=30),
        st.integers(1, 6),
        st.floats(0, 800),
        font_size=st.one_of(st.none(), st.floats(4, 40)),
        bold=st.booleans(),
        evidence=st.sampled_from(["font", "numbering", None]),
        level=st.one_of(st.none(), st.integers(1, 9)),
    ),
    max_size=40,
)
outlines = st.lists(
    st.tuples(st.integers(1, 5), st.text(min_size=1, max_size=20), st.integers(1, 7)), max_size=8
)


@given(rows_strategy, outlines)
def test_whatever_comes_no_text_is_lost_and_every_heading_has_level_and_evidence(
    rows: list[Row], outline: list[tuple[int, str, int | None]]
) -> None:
    joined, findings = join(rows, outline=outline)
    assert [r.order for r in joined] == list(range(len(joined)))
    said = "".join(r.text for r in joined)
    assert all(r.text in said for r in rows)
    headings = [r for r in joined if r.kind == "heading"]
    assert all(r.level and 1 <= r.level <= 12 and r.evidence for r in headings)
    assert bool(headings) != any(f.code == "flat_structure" for f in findings)
    assert joined == join(rows, outline=outline)[0]


def test_levelling_needs_no_sizes() -> None:
    headings = [line_of(row("heading", "A", None, level=1, evidence="font"), 0)]
    assert level_headings(headings, {})[0].level == 1


CONTENTS = ("1 Harbours 1", "1.1 Piers 2", "1.2 Cranes 4", "2 Ships 6")


def contents_rows(*entries: str) -> list[Row]:
    return [row("toc", text, 2, 100 + 14 * i, font_size=10) for i, text in enumerate(entries)]


def test_printed_pages_of_the_contents_lie_a_fixed_way_from_those_of_the_file() -> None:
    joined, _ = join(
        [
            *contents_rows(*CONTENTS, "Index 8"),
            font("1 Harbours", 18, 5),
            font("1.1 Piers", 14, 6),
            row("paragraph", "Index", 7),
            font("1.2 Cranes", 14, 8),
            font("2 Ships", 18, 10),
            row("paragraph", "Index", 12),
        ]
    )
    found = [(r.text, r.level, r.page) for r in joined if r.evidence == "toc"]
    assert found == [
        ("1 Harbours", 1, 5), ("1.1 Piers", 2, 6), ("1.2 Cranes", 2, 8), ("2 Ships", 1, 10),
        ("Index", 1, 12),
    ]  # fmt: skip


def test_a_heading_that_contents_leave_out_lies_below_those_that_look_the_same() -> None:
    joined, _ = join(
        [
            *contents_rows(*CONTENTS),
            font("1 Harbours", 18, 5),
            font("1.1 Piers", 14, 6),
            font("An example", 14, 6, y=400),
            font("1.2 Cranes", 14, 8),
            font("lifting", 10, 8, y=400),
            font("2 Ships", 18, 10),
        ]
    )
    assert levels(joined) == [
        ("1 Harbours", 1, "toc"),
        ("1.1 Piers", 2, "toc"),
        ("An example", 3, "font"),
        ("1.2 Cranes", 2, "toc"),
        ("lifting", 3, "font"),
        ("2 Ships", 1, "toc"),
    ]


def test_a_roman_part_number_in_the_contents_need_not_stand_in_the_title() -> None:
    joined, _ = join(
        [
            *contents_rows("I Harbours 1", "II Ships 4", "III Rope 9"),
            font("Part I", 14, 1),
            font("Harbours", 20, 1, y=330),
            font("Part II", 14, 4),
            font("Ships", 20, 4, y=330),
            font("Part III", 14, 9),
            font("Rope", 20, 9, y=330),
        ]
    )
    assert levels(joined) == [(t, 1, "toc") for t in ("Harbours", "Ships", "Rope")]
    assert [r.marker for r in joined if r.kind == "heading"] == ["Part I", "Part II", "Part III"]
