from libs.contracts.api.ingest import DocumentMetadata
from libs.runtime.catalog.sql.metadata import effective, overlaid
from libs.runtime.catalog.sql.records import load_metadata, load_options


def test_what_is_stated_lies_over_what_was_there() -> None:
    base = DocumentMetadata(year=2020, country="KR", tags=["a"])
    stated = DocumentMetadata(year=2021, tags=["b"])
    assert overlaid(base, stated) == DocumentMetadata(year=2021, country="KR", tags=["b"])
    assert overlaid(base, DocumentMetadata()) == base


def test_inferred_values_fill_what_is_open() -> None:
    stated = DocumentMetadata(year=2020)
    inferred = {"year": 1999, "language": "ko", "tags": ["x"], "unknown": 1}
    assert effective(stated, inferred) == DocumentMetadata(year=2020, language="ko", tags=["x"])


def test_inferred_values_of_a_wrong_type_are_left_out() -> None:
    inferred = {"year": "soon", "tags": "no list", "language": "x" * 99, "country": None}
    assert effective(DocumentMetadata(), inferred) == DocumentMetadata()


def test_rows_of_a_newer_version_are_read() -> None:
    assert load_metadata('{"year": 3, "mood": "new"}') == DocumentMetadata(year=3)
    assert load_options('{"collection": "a", "later": true}').collection == "a"
