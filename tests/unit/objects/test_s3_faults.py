"""Which refusals of an S3 server are the world's and which are ours."""

import pytest

from libs.contracts.faults import Code, WorldFault
from libs.runtime.objects.s3_faults import refused


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("NoSuchBucket", "groundwire bootstrap"),
        ("SignatureDoesNotMatch", "GROUNDWIRE_OBJECTS_SECRET_KEY"),
        ("SlowDown", "busy"),
        ("RequestTimeTooSkewed", "clock"),
    ],
)
def test_what_waiting_or_an_operator_can_help_is_a_store_that_is_away(code: str, told: str) -> None:
    fault = refused(code)
    assert isinstance(fault, WorldFault)
    assert fault.code is Code.STORE_AWAY
    assert told in fault.detail


def test_a_request_that_is_wrong_is_a_fault_of_ours() -> None:
    assert not isinstance(refused("MalformedXML"), WorldFault)
