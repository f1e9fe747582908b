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
        ("XMinioStorageFull", "no room left"),
    ],
)
def test_what_waiting_or_an_operator_can_help_is_a_store_that_is_away(code: str, told: str) -> None:
    fault = refused(code)
    assert isinstance(fault, WorldFault)
    assert fault.code is Code.STORE_AWAY
    assert told in fault.detail


@pytest.mark.parametrize("status", [500, 503, 507])
def test_trouble_of_the_server_is_a_store_that_is_away_whatever_it_is_called(status: int) -> None:
    assert isinstance(refused("XMinioSomethingNew", status), WorldFault)


@pytest.mark.parametrize(("code", "status"), [("MalformedXML", 400), ("NotImplemented", 501)])
def test_a_request_that_is_wrong_is_a_fault_of_ours(code: str, status: int) -> None:
    assert not isinstance(refused(code, status), WorldFault)
