from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.runtime.objects.keys import check_key, check_prefix, is_key


@pytest.mark.parametrize(
    "key",
    ["a", ".hidden/..x/x..", "ns/doc/1/source/보고서 (1).pdf", "c" * 255, "a:b*?|<>", "~", " "],
)
def test_keys(key: str) -> None:
    assert check_key(key) == key
    assert check_prefix(key + "/") == key + "/"


@pytest.mark.parametrize(
    "key",
    [
        *("", "/", "/a", "a/", "a//b", ".", "..", "a/../b", "a/./b", "a\\b"),
        *("a\0", "a\x1fb", "a\x9fb", "\ud800"),
        *("c" * 256, "é" * 128, "/".join(["c" * 250] * 5)),
    ],
)
def test_what_is_no_key(key: str) -> None:
    assert not is_key(key)
    with pytest.raises(ValueError, match=r"^not an object key"):
        check_key(key)
    with pytest.raises(ValueError, match=r"^not an object key"):
        check_prefix(key + "/")


def test_a_refusal_is_short_and_printable() -> None:
    with pytest.raises(ValueError) as refusal:
        check_key("\x1b[31m\ud800" + "k" * 5000)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 300


def test_prefixes() -> None:
    assert check_prefix("") == ""
    with pytest.raises(ValueError, match="does not end"):
        check_prefix("a")


@given(st.text(max_size=20))
def test_a_key_stays_below_its_root(text: str) -> None:
    if is_key(text):
        path = PurePosixPath("/root") / text
        assert path.parts[:2] == ("/", "root")
        assert len(path.parts) == 2 + text.count("/") + 1
        assert ".." not in path.parts
        assert "\x00" not in text
