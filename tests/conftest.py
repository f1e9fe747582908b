"""Fixtures that tests of every area share."""

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache root for the packaged embedder, so that one run converts it once."""
    return tmp_path_factory.mktemp("models")
