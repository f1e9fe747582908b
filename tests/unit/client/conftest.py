"""One scripted gateway for each test, and no settings of this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.client.fake_gateway import FakeGateway, fake_gateway


@pytest.fixture
def gateway(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeGateway]:
    monkeypatch.chdir(tmp_path)
    for name in ("HTTP_PORT", "DATA_DIR", "NAMESPACE"):
        monkeypatch.delenv(f"GROUNDWIRE_{name}", raising=False)
    with fake_gateway() as fake:
        monkeypatch.setenv("GROUNDWIRE_URL", fake.url)
        monkeypatch.setenv("GROUNDWIRE_API_KEY", "gw_test")
        yield fake
