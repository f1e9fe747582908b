"""Which scores tell what a document holds."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from libs.runtime.index.queries import Term, certain_sums


def term(text: str, weight: int) -> Term:
    return Term(text.encode(), weight, [])


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["요금", "지급일", "연금보험", "abc", "abcd"]), st.integers(1, 40)
        ),
        max_size=8,
    )
)
def test_a_certain_score_is_made_by_grams_alone(given: list[tuple[str, int]]) -> None:
    terms = [term(text, weight) for text, weight in given]
    subsets = [
        some for size in range(len(terms) + 1) for some in itertools.combinations(terms, size)
    ]
    by_score: dict[int, bool] = {}
    for some in subsets:
        score = sum(one.weight for one in some)
        short = all(len(one.text.decode()) <= 3 for one in some)
        by_score[score] = by_score.get(score, True) and short
    assert certain_sums(terms) == {score for score, short in by_score.items() if short and score}


def test_of_very_many_terms_nothing_is_certain() -> None:
    assert certain_sums([term("ab", n) for n in range(1, 10)]) == frozenset()
