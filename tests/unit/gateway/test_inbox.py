"""Which objects upload events may name."""

from typing import Any

import pytest

from libs.contracts.events.upstream import SourceLocation
from libs.contracts.faults import CallerFault
from services.gateway.inbox import corpus_bucket_of, notified_place, requested_place

ROOTS = {"*": ["inbox/{namespace}/"], "big": ["lake/inbox/big/cleared/"]}


def record(bucket: str, key: str, **fields: Any) -> dict[str, Any]:
    return {
        "eventName": "s3:ObjectCreated:Put",
        "s3": {"bucket": {"name": bucket}, "object": {"key": key, "eTag": "e1"}},
        **fields,
    }


@pytest.mark.parametrize(
    ("namespace", "bucket", "key", "path"),
    [
        ("acme", "inbox", "a/b.pdf", "acme/a/b.pdf"),
        ("acme", "inbox", "acme/b.pdf", "acme/b.pdf"),
        ("big", "lake", "inbox/big/cleared/b.pdf", "big/cleared/b.pdf"),
    ],
)
def test_a_request_names_what_is_below_its_roots(
    namespace: str, bucket: str, key: str, path: str
) -> None:
    place = requested_place(namespace, SourceLocation(bucket=bucket, key=key), ROOTS)
    assert (place.namespace, place.path) == (namespace, path)


@pytest.mark.parametrize(
    ("namespace", "bucket", "key"),
    [
        ("acme", "inbox", "../other/b.pdf"),
        ("acme", "inbox", "acme/../other/b.pdf"),
        ("acme", "inbox", "/etc/passwd"),
        ("acme", "inbox", "a//b"),
        ("acme", "inbox", "a\\b"),
        ("acme", "inbox", "a\nb"),
        ("acme", "lake", "inbox/other/b.pdf"),
        ("acme", "corpus", "acme/doc/1/source/b.pdf"),
        ("big", "inbox", "big/b.pdf"),
        ("big", "lake", "inbox/big/secret/b.pdf"),
    ],
)
def test_a_request_cannot_leave_its_roots(namespace: str, bucket: str, key: str) -> None:
    with pytest.raises(CallerFault) as caught:
        requested_place(namespace, SourceLocation(bucket=bucket, key=key), ROOTS)
    assert caught.value.status == 403
    assert key not in caught.value.detail


def test_both_spellings_of_a_notification_and_url_encoded_keys() -> None:
    one = notified_place(record("inbox", "acme/a+%28b%29%2Fc.pdf"), None)
    two = notified_place(record("lake", "inbox/acme/%EB%B3%B4.pdf"), None)
    assert one is not None
    assert two is not None
    assert (one.namespace, one.path, one.file_name) == ("acme", "acme/a (b)/c.pdf", "c.pdf")
    assert (two.namespace, two.path, two.etag) == ("acme", "acme/보.pdf", "e1")


def test_what_is_no_new_object_is_passed_over() -> None:
    assert (
        notified_place(record("inbox", "acme/a", eventName="s3:ObjectRemoved:Delete"), None) is None
    )
    assert notified_place(record("inbox", "acme/folder/"), None) is None
    assert notified_place({}, None) is None


@pytest.mark.parametrize(
    "bad",
    [
        record("lake", "acme/doc/1/source/a.pdf"),
        record("corpus", "inbox/doc/1/source/a.pdf"),
        record("inbox", "a.pdf"),
        record("inbox", "acme/..%2Fother/a.pdf"),
        record("inbox", "acme/%FF"),
        {"eventName": "s3:ObjectCreated:Put", "s3": []},
        {"eventName": "s3:ObjectCreated:Put"},
    ],
)
def test_notifications_from_elsewhere_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(CallerFault):
        notified_place(bad, "corpus")


def test_identity_tells_versions_documents_and_options_apart() -> None:
    place = requested_place("acme", SourceLocation(bucket="inbox", key="a"), ROOTS)
    first = place.identity("v1", "d", {"year": 1})
    assert first == place.identity("v1", "d", {"year": 1})
    others = [
        place.identity("v2", "d", {"year": 1}),
        place.identity("v1", "e", {"year": 1}),
        place.identity("v1", "d", {"year": 2}),
    ]
    assert len({first, *others}) == 4


def test_the_corpus_bucket_is_known_from_its_url() -> None:
    assert corpus_bucket_of("s3://corpus/prefix") == "corpus"
    assert corpus_bucket_of("s3://key:secret@corpus") == "corpus"
    assert corpus_bucket_of("file:/data/objects") is None
