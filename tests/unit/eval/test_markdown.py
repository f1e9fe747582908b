"""Rows as Markdown."""

from eval.parsing.markdown import markdown
from libs.contracts.artefacts.rows import Row, TableCell
from tests.support.rows import rows


def test_every_kind_in_reading_order() -> None:
    given = rows(
        ("page_header", "Running head"),
        ("heading", "A\ntitle", {"level": 2}),
        ("paragraph", "Text."),
        ("list_item", "first", {"marker": "•", "level": 1}),
        ("list_item", "second", {"marker": "2)", "level": 2}),
        ("code", "x = 1"),
        ("image", "a photo", {"asset": "assets/images/a.png"}),
        ("image", "", {"asset": "assets/images/b.png"}),
        ("caption", "Figure 1"),
        ("page_footer", "7"),
    )
    assert markdown(given).split("\n\n") == [
        "Running head",
        "## A title",
        "Text.",
        "- first",
        "  2) second",
        "```\nx = 1\n```",
        "![a photo](assets/images/a.png)",
        "Figure 1",
        "7\n",
    ]


def test_tables_are_compact_html_with_their_spans() -> None:
    cells = [
        TableCell(row=0, column=0, column_span=2, text="h & i", header=True),
        TableCell(row=1, column=0, text="a"),
        TableCell(row=1, column=1, text="b"),
    ]
    assert markdown([Row(order=0, kind="table", cells=cells)]) == (
        '<table><tr><td colspan="2">h &amp; i</td></tr><tr><td>a</td><td>b</td></tr></table>\n'
    )


def test_what_a_reader_does_not_see_is_left_out() -> None:
    assert markdown(rows(("paragraph", "seen"), ("paragraph", "not", {"hidden": True}))) == "seen\n"


def test_levels_end_at_six() -> None:
    assert markdown(rows(("heading", "Deep", {"level": 9}))) == "###### Deep\n"
