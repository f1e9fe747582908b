"""Chunk ids as numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.contracts.artefacts.chunk import chunk_id
from libs.runtime.index.identity import HASH, TAG, from_columns, to_columns


def back(name: str) -> str | None:
    columns = to_columns(name)
    assert all(0 <= value < 1 << 64 for value in columns.values())
    return from_columns(columns[TAG], [columns[part] for part in HASH])


@given(st.sampled_from(["text", "image", "table"]), st.text(), st.integers(1, 10**8))
def test_chunk_ids_come_back(kind: str, content: str, repeat: int) -> None:
    name = chunk_id(kind, content, repeat)
    assert back(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "t", "T" + "a" * 64, "t" + "A" * 64, "t" + "a" * 63, "t" + "a" * 64 + "-0",
     "t" + "a" * 64 + "-02", "t" + "a" * 64 + "-9999999999", "t" + "a" * 64 + "\n", "é" + "a" * 64],
)  # fmt: skip
def test_other_names_are_left_to_the_document(name: str) -> None:
    assert back(name) is None
