from services.chunker.tree import MAX_DEPTH, Section, build_tree, document_title, visible
from tests.support.rows import rows


def shape(section: Section) -> list[object]:
    return [section.title, *map(shape, section.children)]


def heads(*given: tuple[str, int | None]) -> Section:
    made = rows(*(("heading", text, {"level": level}) for text, level in given))
    return build_tree(made, "doc")


def test_a_higher_heading_closes_what_lies_below() -> None:
    tree = heads(("1", 1), ("1.1", 2), ("1.1.1", 3), ("1.2", 2), ("2", 1))
    assert shape(tree) == ["doc", ["1", ["1.1", ["1.1.1"]], ["1.2"]], ["2"]]


def test_level_jumps_nest_once_and_close_rightly() -> None:
    tree = heads(("deep first", 4), ("top", 1), ("jump", 5), ("less", 3), ("end", 1))
    assert shape(tree) == ["doc", ["deep first"], ["top", ["jump"], ["less"]], ["end"]]
    assert [s.path for s in tree.walk()][3] == ("top", "jump")


def test_a_heading_without_level_stands_beside_the_open_section() -> None:
    assert shape(heads(("a", 1), ("b", 2), ("c", None))) == ["doc", ["a", ["b"], ["c"]]]


def test_depth_is_bounded() -> None:
    tree = heads(*((str(i), i) for i in range(1, 200)))
    assert max(len(s.path) for s in tree.walk()) == MAX_DEPTH
    assert sum(1 for _ in tree.walk()) == 200


def test_rows_lie_in_the_open_section_and_a_long_heading_keeps_its_text() -> None:
    long = "word " * 100
    tree = build_tree(
        rows(("paragraph", "before"), ("heading", long, {"level": 1}), ("paragraph", "after")), "d"
    )
    assert [r.text for r in tree.rows] == ["before"]
    section = tree.children[0]
    assert len(section.title) <= 300
    assert [(r.kind, r.text) for r in section.rows] == [("paragraph", long), ("paragraph", "after")]


def test_visible_leaves_out_hidden_rows_and_furniture() -> None:
    given = rows(
        ("page_header", "head"),
        ("paragraph", "text"),
        ("toc", "contents"),
        ("paragraph", "secret", {"hidden": True}),
    )
    assert [r.text for r in visible(reversed(given))] == ["text"]
    assert [r.text for r in visible(given[:1])] == ["head"]


def test_document_title() -> None:
    one = rows(("heading", "Annual  Report", {"level": 1}), ("heading", "Part", {"level": 2}))
    two = rows(("heading", "Part A", {"level": 1}), ("heading", "Part B", {"level": 1}))
    assert document_title(one, None, "a.pdf") == "Annual Report"
    assert document_title(one, " Stated ", "a.pdf") == "Stated"
    assert document_title(two, None, "my.report.pdf") == "my.report"
    assert document_title([], "", ".hidden") == ".hidden"
