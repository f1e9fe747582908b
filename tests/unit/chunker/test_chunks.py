import pytest

from libs.contracts.artefacts.chunk import Chunk, canonical_table, canonical_text, chunk_id
from libs.contracts.artefacts.rows import Box, Row, TableCell
from libs.contracts.faults import Code, DocumentFault
from services.chunker.artefacts import Artefacts
from services.chunker.cut import Sizes
from services.chunker.local import chunk_rows
from tests.support.rows import count_words, profile, rows, table

SIZES = Sizes(20, 40)

SHA = "c" * 64


def build(given: list[Row], sizes: Sizes | None = None) -> Artefacts:
    return chunk_rows(
        profile(),
        given,
        sizes=sizes or Sizes(),
        count_many=count_words,
        asset_hashes={"assets/images/a.png": SHA},
    )


def chunks(given: list[Row], sizes: Sizes | None = None) -> list[Chunk]:
    return build(given, sizes).chunks.chunks


def test_a_section_is_one_chunk_with_paragraphs_and_lists() -> None:
    (chunk,) = chunks(
        rows(
            ("heading", "Scope", {"level": 1, "page": 1}),
            ("paragraph", "It applies to all."),
            ("list_item", "banks", {"marker": "1.", "level": 1}),
            ("list_item", "insurers", {"level": 2}),
            ("code", "x = 1\n\ny = 2"),
        )
    )
    assert chunk.content == "It applies to all.\n\n1. banks\n  - insurers\n\nx = 1\n\ny = 2"
    assert chunk.path == ["Scope"]
    assert chunk.chunk_id == chunk_id("text", canonical_text(chunk.content))
    assert chunk.metadata.content_hash.startswith("sha256:")


def test_long_text_is_shared_out_evenly_at_sentences() -> None:
    sentences = [f"Sentence number {i} has six words." for i in range(100)]
    found = chunks(rows(("paragraph", " ".join(sentences))), Sizes(100, 200))
    assert [c.metadata.tokens for c in found] == [102, 102, 102, 102, 102, 90]
    assert " ".join(c.content for c in found) == " ".join(sentences)


def test_a_sentence_over_the_limit_is_cut_at_white_space() -> None:
    words = [f"w{i}" for i in range(100)]
    found = chunks(rows(("paragraph", " ".join(words))), Sizes(20, 30))
    assert max(c.metadata.tokens for c in found) <= 22
    assert " ".join(c.content for c in found).split() == words


def test_the_heading_path_counts_towards_the_window() -> None:
    heading = " ".join(["title"] * 20)
    text = " ".join(["word"] * 60)
    for chunk in chunks(
        rows(("heading", heading, {"level": 1}), ("paragraph", text)), Sizes(40, 50)
    ):
        assert chunk.metadata.tokens <= 50 - 20 - 5 + 3


def test_a_heading_with_nothing_below_is_found() -> None:
    found = chunks(
        rows(
            ("heading", "Empty", {"level": 1}), ("heading", "Full", {"level": 1}), ("note", "text")
        )
    )
    assert [(c.content, c.path) for c in found] == [("Empty", ["Empty"]), ("text", ["Full"])]


def test_a_table_is_a_chunk_embedded_where_it_stands() -> None:
    grid = [["Year", "Growth"], ["2023", "1.4"], ["2024", ""]]
    text, tab = chunks(
        rows(
            ("paragraph", "Before it."),
            ("caption", "Table 1. Growth by year"),
            ("table", "", table(grid)),
            ("paragraph", "After it."),
        )
    )
    assert tab.type == "table"
    assert (
        tab.content == "Table 1. Growth by year\nYear | Growth\nYear: 2023; Growth: 1.4\nYear: 2024"
    )
    assert tab.metadata.html == "<table>as parsed</table>"
    mark = f"[[table:{tab.chunk_id}]]"
    assert text.content == f"Before it.\n\n{mark}\n\nAfter it."
    (link,) = text.metadata.connect_to
    assert (link.target, link.relation, link.ref) == (tab.chunk_id, "embeds", mark)
    assert link.position == 12
    assert [(o.target, o.relation) for o in tab.metadata.connect_to] == [(text.chunk_id, "related")]


def test_a_large_table_is_cut_between_rows_with_exact_html() -> None:
    grid = [["Name", "Value"], *([f"item{i}", f"v{i}"] for i in range(20))]
    found = chunks(rows(("table", "", table(grid))), Sizes(20, 30))
    assert len(found) > 3
    assert all(c.metadata.tokens <= 22 for c in found)
    assert "".join(c.content for c in found).count("item") == 20
    second = found[1]
    lines = second.content.split("\n")
    assert lines[0].startswith("Name: item")
    assert second.metadata.html is not None
    assert second.metadata.html.startswith(
        "<table><tr><th>Name</th><th>Value</th></tr><tr><td>item"
    )
    assert second.metadata.html.count("<tr>") == len(lines) + 1
    assert {found[0].chunk_id, found[2].chunk_id} <= {o.target for o in second.metadata.connect_to}


def test_spans_are_repeated_in_text_and_clipped_in_html_parts() -> None:
    cells = [
        TableCell(row=0, column=0, text="Region", header=True),
        TableCell(row=0, column=1, text="City", header=True),
        TableCell(row=1, column=0, row_span=6, text="North <1>"),
        *(TableCell(row=r, column=1, text=f"town{r}") for r in range(1, 7)),
    ]
    whole = chunks(rows(("table", "", {"cells": cells})))
    assert whole[0].content.count("Region: North <1>; City: town") == 6
    assert whole[0].chunk_id == chunk_id("table", canonical_table(cells))
    parts = chunks(rows(("table", "", {"cells": cells})), Sizes(10, 24))
    html = [part.metadata.html or "" for part in parts]
    assert '<td rowspan="2">North &lt;1&gt;</td><td>town1' in html[0]
    assert '<td rowspan="2">North &lt;1&gt;</td><td>town3' in html[1]
    assert '<td rowspan="2">North &lt;1&gt;</td><td>town5' in html[2]


def test_parts_of_a_long_table_have_its_caption_and_the_pages_of_their_own_rows() -> None:
    cells = [
        TableCell(row=0, column=0, text="Port", header=True),
        TableCell(row=0, column=1, text="Tons", header=True),
    ]
    cells += [
        TableCell(row=r, column=c, text=t)
        for r in range(1, 10)
        for c, t in enumerate((f"harbour{r}", f"{r}00"))
    ]
    boxes = [Box(page=page, bbox=(50.0, 50.0, 500.0, 700.0)) for page in (4, 5, 6)]
    table = {"cells": cells, "caption": "Cargo 2021", "boxes": boxes, "page": 4, "breaks": [4, 7]}
    parts = chunks(rows(("table", "", table)), Sizes(10, 28))
    held = {
        f"harbour{r}": part.metadata.page_numbers
        for part in parts
        for r in range(1, 10)
        if f"harbour{r};" in part.content
    }
    assert len(parts) > 2
    assert all(part.content.startswith("Cargo 2021\n") for part in parts)
    assert all(4 in held[f"harbour{r}"] for r in (1, 2, 3))
    assert all(5 in held[f"harbour{r}"] for r in (4, 5, 6))
    assert all(6 in held[f"harbour{r}"] for r in (7, 8, 9))
    assert 6 not in held["harbour1"] and 4 not in held["harbour9"]
    sizes = [len(part.content) for part in parts]
    assert max(sizes) < 2 * min(sizes)


def test_column_headers_of_several_rows_are_joined() -> None:
    cells = [
        TableCell(row=0, column=0, row_span=2, text="Bank", header=True),
        TableCell(row=0, column=1, column_span=2, text="Growth", header=True),
        TableCell(row=1, column=1, text="2023", header=True),
        TableCell(row=1, column=2, text="2024", header=True),
        TableCell(row=2, column=0, text="A"),
        TableCell(row=2, column=1, text="1"),
        TableCell(row=2, column=2, text="2"),
    ]
    (chunk,) = chunks(rows(("table", "", {"cells": cells})))
    assert chunk.content.endswith("Bank: A; Growth / 2023: 1; Growth / 2024: 2")


def test_a_long_header_is_repeated_by_its_lowest_level() -> None:
    top = "Releases to the environment in a year"
    cells = [
        TableCell(row=0, column=0, row_span=2, text="Gas", header=True),
        TableCell(row=0, column=1, column_span=2, text=top, header=True),
        TableCell(row=1, column=1, text="to air", header=True),
        TableCell(row=1, column=2, text="to water", header=True),
        *(TableCell(row=2, column=c, text=text) for c, text in enumerate(("CO2", "1", "2"))),
    ]
    (chunk,) = chunks(rows(("table", "", {"cells": cells})))
    assert chunk.content == (
        f"Gas | {top} / to air | {top} / to water\nGas: CO2; to air: 1; to water: 2"
    )


def test_a_table_without_headers_stays_a_grid() -> None:
    (chunk,) = chunks(rows(("table", "", table([["1", "2"], ["3", "4"]], header=False))))
    assert chunk.content == "1 | 2\n3 | 4"
    (chunk,) = chunks(rows(("table", "", table([["Name", "Size"], ["a", "4"]], header=False))))
    assert chunk.content == "Name | Size\nName: a; Size: 4"


def test_one_image_alone_is_a_document() -> None:
    fields = {"asset": "assets/images/a.png", "media_type": "image/png", "page": 1}
    (chunk,) = chunks(rows(("image", "", fields)))
    assert chunk.type == "image"
    assert chunk.chunk_id == f"i{SHA}"
    assert chunk.metadata.file_path == "assets/images/a.png"
    assert chunk.metadata.media_type == "image/png"
    assert chunk.content == "report"


def test_images_speak_by_caption_alt_text_or_neighbour_and_repeats_count_up() -> None:
    fields = {"asset": "assets/images/a.png"}
    text, first, second = chunks(
        rows(
            ("paragraph", "The bridge was built."),
            ("image", "", fields),
            ("image", "A photo", {**fields, "caption": "Figure 2. The bridge"}),
        )
    )
    assert first.content == "The bridge was built."
    assert second.content == "Figure 2. The bridge\nA photo"
    assert [first.chunk_id, second.chunk_id] == [f"i{SHA}", f"i{SHA}-2"]
    assert text.content.count("[[image:") == 2
    assert text.chunk_id == chunk_id("text", "The bridge was built.")


def test_text_ids_ignore_references() -> None:
    with_image = rows(
        ("paragraph", "One."), ("image", "", {"asset": "x.png"}), ("paragraph", "Two.")
    )
    without = rows(("paragraph", "One."), ("paragraph", "Two."))
    assert chunks(with_image)[0].chunk_id == chunks(without)[0].chunk_id


def test_long_text_of_an_image_joins_the_flow() -> None:
    scan = " ".join(f"Scanned sentence {i}." for i in range(60))
    text, image = chunks(rows(("image", scan, {"asset": "x.png"})))
    assert canonical_text(text.content) == scan
    assert image.content.startswith("Scanned sentence 0.")
    assert len(image.content) <= 600


def test_pages_and_boxes_are_merged() -> None:
    def at(page: int, y: float) -> dict[str, object]:
        return {"page": page, "boxes": [Box(page=page, bbox=(72, y, 500, y + 20))]}

    (chunk,) = chunks(
        rows(
            ("paragraph", "a", at(1, 700)), ("paragraph", "b", at(1, 730)),
            ("paragraph", "c", at(2, 72)), ("paragraph", "d", at(2, 400)),
        )
    )  # fmt: skip
    assert chunk.metadata.page_numbers == [1, 2]
    assert [(b.page, b.bbox) for b in chunk.metadata.boxes] == [
        (1, (72, 700, 500, 750)),
        (2, (72, 72, 500, 92)),
        (2, (72, 400, 500, 420)),
    ]


def test_equal_texts_get_ordinals() -> None:
    given = rows(
        *(r for i in range(3) for r in (("heading", f"H{i}", {"level": 1}), ("note", "same")))
    )
    ids = [c.chunk_id for c in chunks(given)]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


def test_nothing_at_all_is_the_documents_fault() -> None:
    for given in ([], rows(("paragraph", "x", {"hidden": True})), rows(("paragraph", " \n"))):
        with pytest.raises(DocumentFault) as raised:
            chunks(given)
        assert raised.value.code is Code.NO_CONTENT


def test_tokens_are_counted_once_for_the_document() -> None:
    calls: list[int] = []

    def count(texts: list[str]) -> list[int]:
        calls.append(len(texts))
        return count_words(texts)

    given = rows(*(("heading" if i % 5 == 0 else "paragraph", f"Text {i}.") for i in range(50)))
    chunk_rows(profile(), given, sizes=Sizes(), count_many=count)
    assert len(calls) == 1


def test_a_chunk_ends_with_its_page_unless_little_stands_there() -> None:
    long = " ".join(f"word{n}" for n in range(18)) + "."
    short = "A few words more."
    found = chunks(rows(*(("paragraph", long, {"page": page}) for page in (1, 1, 2, 2))), SIZES)
    assert [chunk.metadata.page_numbers for chunk in found] == [[1], [1], [2], [2]]
    texts = [(long, 1), (long, 1), (short, 2)]
    found = chunks(rows(*(("paragraph", text, {"page": page}) for text, page in texts)), SIZES)
    assert found[-1].metadata.page_numbers == [1, 2]
