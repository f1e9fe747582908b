import pytest
from pydantic import ValidationError

from libs.contracts.api.ingest import IngestOptions
from libs.contracts.base import STORED


@pytest.mark.parametrize("name", ["docling", "native", "liteparse", None])
def test_known_engines(name):
    assert IngestOptions(engine=name).engine == name


@pytest.mark.parametrize("name", ["../../x", "", "Docling", "docling\n", "x" * 99])
def test_any_other_name_is_refused_with_the_names_that_are_known(name):
    with pytest.raises(ValidationError, match=r"known are docling|at most 32"):
        IngestOptions(engine=name)


def test_what_was_stored_with_another_name_stays_readable():
    stored = IngestOptions.model_validate({"engine": "older"}, context=STORED)
    assert stored.engine == "older"
