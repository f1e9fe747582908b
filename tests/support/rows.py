"""Rows, profiles and a token counter for tests."""

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from libs.contracts.artefacts.profile import Profile
from libs.contracts.artefacts.rows import Box, Row, RowKind, TableCell

SHA = "a" * 64


def count_words(texts: list[str]) -> list[int]:
    """A token is a word."""
    return [len(t.split()) for t in texts]


def profile(file_name: str = "report.pdf", **fields: Any) -> Profile:
    """A profile of a small PDF."""
    known = {
        "format": "pdf", "media_type": "application/pdf", "size": 10, "sha256": SHA,
        "language": "en", "page_count": 3,
    }  # fmt: skip
    return Profile(file_name=file_name, **{**known, **fields})


def rows(*given: tuple[Any, ...]) -> list[Row]:
    """Rows from (kind, text[, fields]), numbered in order."""
    return [
        Row(order=i, kind=kind, text=text, **(rest[0] if rest else {}))
        for i, (kind, text, *rest) in enumerate(given)
    ]


def table(grid: Sequence[Sequence[str]], *, header: bool = True) -> dict[str, Any]:
    """The fields of a table row, without spans."""
    cells = [
        TableCell(row=r, column=c, text=text, header=header and r == 0)
        for r, line in enumerate(grid)
        for c, text in enumerate(line)
    ]
    return {"cells": cells, "html": "<table>as parsed</table>"}


WORDS = st.sampled_from(
    [
        "plan.",
        "market",
        "growth,",
        "총칙은",
        "제1조의",
        "효력이",
        "있다.",
        "그리고",
        "(see",
        "e.g.",
        "Fig.",
        "3)",
        "U.S.",
        "data?",
        "예산안!",
        "[[image:x]]",
        "[[table:y",
        "a.b.c",
        "3.14",
        "……",
        "…",
        "“quoted.”",
        "line\nbreak",
        "x\n\ny",
        "表。又",
        "\x00nul",
    ]
)
TEXTS = st.one_of(
    st.lists(WORDS, max_size=60).map(" ".join),
    st.text(max_size=80),
    st.text("가나다. \n", max_size=60),
    st.integers(1, 900).map(lambda n: "x" * n),
)


@st.composite
def table_fields(draw: st.DrawFn) -> dict[str, Any]:
    """A table with spans, headers or none."""
    cells, width = [], draw(st.integers(1, 4))
    for r in range(draw(st.integers(0, 6))):
        c = 0
        while c < width:
            span = draw(st.integers(1, width - c))
            cells.append(
                TableCell(
                    row=r,
                    column=c,
                    row_span=draw(st.sampled_from([1, 1, 1, 2, 50])),
                    column_span=span,
                    text=draw(TEXTS),
                    header=draw(st.booleans()) if r == 0 else False,
                )
            )
            c += span
    return {"cells": cells, "html": "<table></table>" if cells else None}


@st.composite
def documents(draw: st.DrawFn) -> list[Row]:
    """Rows of every kind, in any order a hostile parser might think of."""
    made: list[Row] = []
    kinds: list[RowKind] = [
        "heading", "heading", "paragraph", "paragraph", "list_item", "table", "image", "code",
        "formula", "caption", "footnote", "toc", "page_header", "page_footer", "note",
    ]  # fmt: skip
    for order in range(draw(st.integers(0, 14))):
        kind = draw(st.sampled_from(kinds))
        fields: dict[str, Any] = {"text": draw(TEXTS), "hidden": draw(st.integers(0, 9)) == 0}
        if kind in ("heading", "list_item"):
            fields["level"] = draw(st.sampled_from([None, 1, 2, 3, 5, 12]))
        if kind == "table":
            fields |= draw(table_fields())
        if kind == "image":
            fields["asset"] = draw(st.sampled_from([None, "assets/images/a.png", "b.png"]))
        if kind in ("table", "image"):
            fields["caption"] = draw(st.sampled_from([None, "", "Figure 1. A plan", "표 1"]))
        if draw(st.booleans()):
            page = draw(st.integers(1, 4))
            y = float(draw(st.integers(0, 700)))
            fields |= {"page": page, "boxes": [Box(page=page, bbox=(72.0, y, 500.0, y + 12))]}
        made.append(Row(order=order, kind=kind, **fields))
    return made
