"""Listings in tree order become listings in key order."""

from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from libs.runtime.objects.s3_order import in_key_order

PART = st.text(st.sampled_from("ab -.0가"), min_size=1, max_size=3)
KEYS = st.lists(st.lists(PART, min_size=1, max_size=4).map("/".join), unique=True)


def tree_order(keys: list[str]) -> list[str]:
    return sorted(keys, key=lambda key: key.split("/"))


@given(KEYS)
def test_tree_order_becomes_key_order(keys: list[str]) -> None:
    assert list(in_key_order(tree_order(keys), "")) == sorted(keys)


@given(KEYS)
def test_key_order_stays(keys: list[str]) -> None:
    below = [f"ns/doc/{key}" for key in sorted(keys)]
    assert list(in_key_order(below, "ns/doc/")) == below


def test_only_one_folder_is_held_back() -> None:
    given: list[str] = []

    def walk() -> Iterator[str]:
        for n in range(1000):
            for name in ("x", "y"):
                given.append(name)
                yield f"ns/{n:04}/{name}"

    keys = in_key_order(walk(), "ns/")
    for taken in range(1, 1000):
        next(keys)
        assert len(given) - taken <= 3
