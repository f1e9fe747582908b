import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.artefacts import ChunkMetadata
from libs.runtime.catalog.sql.places import MAX_CHUNKS, place_of, place_parts
from libs.runtime.catalog.sql.staging import survey
from tests.support.catalogs import chunks, tree

REVN = st.integers(1, 2**31)
ORDER = st.integers(0, MAX_CHUNKS - 1)


@given(one=st.tuples(REVN, ORDER), two=st.tuples(REVN, ORDER))
def test_places_sort_as_revision_and_order(one: tuple[int, int], two: tuple[int, int]) -> None:
    assert place_parts(place_of(*one)) == one
    assert (place_of(*one) < place_of(*two)) == (one < two)
    assert place_of(*one) < 2**63


@pytest.mark.parametrize("order", [-1, MAX_CHUNKS])
def test_an_order_that_has_no_place_is_refused(order: int) -> None:
    (one,) = chunks("a")
    with pytest.raises(ValueError, match=str(MAX_CHUNKS)):
        survey(1, [one.model_copy(update={"order": order})], tree())


def test_the_digest_of_staged_rows_is_of_everything_but_their_sequence() -> None:
    pieces = chunks("a", "b")
    staged = survey(1, pieces, tree("One"))
    assert survey(1, pieces[::-1], tree("One")).digest == staged.digest
    moved = ChunkMetadata(length=1, tokens=1, content_hash="h", page_numbers=[2])
    changed = [pieces[0].model_copy(update={"metadata": moved}), pieces[1]]
    assert survey(1, changed, tree("One")).digest != staged.digest
    assert survey(1, pieces, tree("Two")).digest != staged.digest
    assert survey(1, changed, tree()).id_digest == staged.id_digest
