"""Properties of chunk identity: the same content, the same id, wherever it stands."""

import unicodedata

from hypothesis import assume, given
from hypothesis import strategies as st

from libs.contracts.artefacts import TableCell
from libs.contracts.artefacts.chunk import (
    REFERENCE,
    canonical_table,
    canonical_text,
    chunk_id,
    digest_ids,
    reference,
)

TEXT = st.text(alphabet=st.characters(exclude_categories=("Cs",)), max_size=200)
SPACE = st.text(alphabet=" \t\n\u00a0\u3000", min_size=1, max_size=5)
CELLS = st.lists(
    st.builds(
        TableCell,
        row=st.integers(0, 20),
        column=st.integers(0, 20),
        row_span=st.integers(1, 4),
        column_span=st.integers(1, 4),
        text=TEXT,
    ),
    max_size=8,
    unique_by=lambda cell: (cell.row, cell.column),
)


@given(TEXT)
def test_canonical_text_is_a_fixed_point(text: str) -> None:
    canonical = canonical_text(text)
    assume(not REFERENCE.search(canonical))
    assert canonical_text(canonical) == canonical
    assert canonical == canonical.strip()
    assert "  " not in canonical


@given(st.lists(TEXT.map(canonical_text).filter(bool), min_size=1, max_size=6), SPACE, SPACE)
def test_white_space_and_normal_form_do_not_matter(words: list[str], one: str, other: str) -> None:
    left = one.join(words)
    right = other + other.join(unicodedata.normalize("NFD", word) for word in words)
    assert canonical_text(left) == canonical_text(right)


@given(TEXT, TEXT, st.sampled_from(["image", "table"]), st.integers(0, 2**64))
def test_references_do_not_matter(before: str, after: str, kind: str, number: int) -> None:
    mark = reference(kind, f"i{number:064x}-2")
    assume("[[" not in before and "]]" not in after)
    assert canonical_text(before + mark + after) == canonical_text(f"{before} {after}")


@given(TEXT, TEXT)
def test_different_text_has_different_ids(one: str, other: str) -> None:
    same = canonical_text(one) == canonical_text(other)
    ids = {chunk_id("text", canonical_text(text)) for text in (one, other)}
    assert (len(ids) == 1) == same


@given(TEXT, st.integers(1, 50))
def test_an_id_says_its_type_and_its_repeat(text: str, repeat: int) -> None:
    made = chunk_id("text", canonical_text(text), repeat)
    assert made.startswith("t")
    assert made.partition("-")[2] == (str(repeat) if repeat > 1 else "")
    assert chunk_id("table", canonical_text(text))[1:] == made.partition("-")[0][1:]
    assert chunk_id("image", text.encode())[0] == "i"


@given(CELLS, st.randoms(use_true_random=False))
def test_the_order_in_which_cells_are_found_does_not_matter(cells: list[TableCell], random) -> None:
    shuffled = list(cells)
    random.shuffle(shuffled)
    assert canonical_table(shuffled) == canonical_table(cells)


@given(CELLS.filter(bool), st.integers(0, 7))
def test_a_span_is_part_of_a_tables_identity(cells: list[TableCell], which: int) -> None:
    changed = list(cells)
    cell = changed[which % len(changed)]
    changed[which % len(changed)] = cell.model_copy(update={"row_span": cell.row_span + 1})
    assert canonical_table(changed) != canonical_table(cells)


@given(CELLS)
def test_a_cells_text_cannot_look_like_another_cell(cells: list[TableCell]) -> None:
    assert len(canonical_table(cells).splitlines() if cells else []) == len(cells)


@given(st.lists(st.text(alphabet="abc0-", min_size=1), unique=True), st.randoms())
def test_the_digest_does_not_depend_on_order(ids: list[str], random) -> None:
    shuffled = list(ids)
    random.shuffle(shuffled)
    assert digest_ids(shuffled) == digest_ids(ids)
    assert digest_ids([*ids, "x"]) != digest_ids(ids)
