"""What an `s3:` URL may say."""

import pytest

from libs.runtime.objects.factory import open_objects
from libs.runtime.objects.s3_place import S3Keys, S3Place


def test_a_bucket_alone_is_on_aws() -> None:
    assert S3Place.of("s3://corpus") == S3Place("corpus", "s3.amazonaws.com", True)


def test_options_name_another_server() -> None:
    place = S3Place.of("s3://corpus?endpoint=http://minio:9000&region=eu-west-1&listing=tree")
    assert place == S3Place("corpus", "minio:9000", False, "eu-west-1", tree_order=True)


@pytest.mark.parametrize(
    "url",
    [
        "s3:corpus", "s3://", "s3://Corpus", "s3://a", "s3://../x", "s3://corpus/prefix",
        "s3://corpus#x", "s3://key:secret@corpus", "s3://corpus?endpoint=ftp://host",
        "s3://corpus?endpoint=http://key:secret@host", "s3://corpus?endpoint=http://host/path",
        "s3://corpus?endpoint=minio:9000", "s3://corpus?region=a/b", "s3://corpus?listing=random",
        "s3://corpus?unknown=1", "file:///x",
    ],
)  # fmt: skip
def test_anything_else_is_refused_without_telling_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="s3:") as refusal:
        S3Place.of(url)
    assert "secret" not in str(refusal.value).replace("SECRET_KEY", "")


def test_unknown_schemes_are_refused_with_the_choices() -> None:
    with pytest.raises(ValueError, match="file:<path> or s3:"):
        open_objects("ftp://key:secret@host/x")


def test_a_secret_is_never_shown() -> None:
    assert "hidden" not in repr(S3Keys("access", "hidden"))
