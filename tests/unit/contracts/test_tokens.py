"""Properties of names and ids: whatever comes in, nothing can leave its place."""

import unicodedata
from pathlib import PurePosixPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from libs.contracts.tokens import (
    MAX_FILE_NAME_BYTES,
    DocumentId,
    Namespace,
    document_id_for,
    new_id,
    safe_file_name,
)

NASTY = st.text(alphabet=st.characters(), max_size=400)


@given(NASTY)
@example("../../etc/passwd")
@example("C:\\Windows\\system.ini")
@example("..")
@example("a\x00b\u202egpj.exe")
@example("\ud800.txt")
@example("\u0065\u0301" * 300 + ".pdf")
@example("./\u2028..")
def test_a_file_name_is_one_safe_component(name: str) -> None:
    safe = safe_file_name(name)
    assert safe not in {"", ".", ".."}
    assert not {"/", "\\"} & set(safe)
    assert PurePosixPath(safe).name == safe
    assert len(safe.encode()) <= MAX_FILE_NAME_BYTES
    assert not [c for c in safe if unicodedata.category(c) in {"Cc", "Cf", "Cs"}]
    assert safe == unicodedata.normalize("NFC", safe)


@given(NASTY)
def test_a_safe_name_stays_as_it_is(name: str) -> None:
    safe = safe_file_name(name)
    assert safe_file_name(safe) == safe


@given(st.from_regex(r"[a-zA-Z0-9가-힣 ()-]{1,40}\.[a-z]{1,5}", fullmatch=True))
def test_an_ordinary_name_is_kept(name: str) -> None:
    assert safe_file_name(f"some/where/{name}") == unicodedata.normalize("NFC", name.strip())


@given(st.text(alphabet="가나다abc", min_size=200, max_size=400))
def test_a_long_name_keeps_its_suffix(stem: str) -> None:
    assert safe_file_name(f"{stem}.docx").endswith(".docx")


@given(st.text(max_size=140))
@example("a.b")
@example("a*")
@example("a\n")
@example("-a")
@example("a" * 129)
def test_a_token_that_is_accepted_needs_no_escaping(text: str) -> None:
    for kind in (DocumentId, Namespace):
        try:
            token = TypeAdapter(kind).validate_python(text)
        except ValidationError:
            continue
        assert token.isascii()
        assert token.replace("-", "").replace("_", "").isalnum()


@pytest.mark.parametrize(
    "bad", ["", "a.b", "a b", "*", ">", "a/b", "a\n", "ä", "-a", "a-", "A" * 129]
)
def test_what_would_change_a_subject_is_refused(bad: str) -> None:
    for kind in (DocumentId, Namespace):
        with pytest.raises(ValidationError):
            TypeAdapter(kind).validate_python(bad)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=4))
def test_outside_identities_make_valid_stable_ids(identity: list[str]) -> None:
    made = document_id_for(*identity)
    assert made == document_id_for(*identity)
    assert TypeAdapter(DocumentId).validate_python(made) == made


def test_different_identities_make_different_ids() -> None:
    assert document_id_for("a", "bc") != document_id_for("ab", "c")


def test_new_ids_are_valid_unique_and_sort_by_time() -> None:
    made = [new_id("job") for _ in range(200)]
    assert len(set(made)) == 200
    assert all(TypeAdapter(DocumentId).validate_python(one) == one for one in made)
    assert [one[:15] for one in made] == sorted(one[:15] for one in made)
