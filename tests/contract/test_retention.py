"""How long the bus keeps what people read, as the settings say."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import nats
import pytest
from nats.js.api import StreamConfig

from deploy.local.bootstrap import bootstrap
from libs.contracts.subjects import DEAD, OUTCOMES, PIPELINE, Stream
from libs.runtime.routes import stream_name
from libs.runtime.settings import Settings
from tests.support.nats import nats_server

PREFIX = "retention"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with nats_server(Path(tmp_path_factory.mktemp("nats"))) as running:
        yield running


async def _configured(url: str, stream: Stream) -> StreamConfig:
    client = await nats.connect(url)
    try:
        return (await client.jetstream(timeout=30).stream_info(stream_name(PREFIX, stream))).config
    finally:
        await client.close()


def ages(url: str, folder: Path, **given: float) -> list[float | None]:
    """Seconds that dead letters, outcomes and events are kept after a bootstrap."""
    settings = Settings(
        _env_file=None, data_dir=folder, nats_url=url, prefix=PREFIX, embedder="none", **given
    )  # type: ignore[call-arg]
    bootstrap(settings)
    return [asyncio.run(_configured(url, one)).max_age for one in (DEAD, OUTCOMES, PIPELINE)]


def test_dead_letters_and_outcomes_are_kept_as_long_as_is_set(tmp_path: Path, url: str) -> None:
    assert ages(url, tmp_path) == [0, 7 * 86_400, 0]
    assert ages(url, tmp_path, dead_letter_days=30, outcome_days=0.5) == [30 * 86_400, 43_200, 0]
    assert ages(url, tmp_path) == [0, 7 * 86_400, 0], "a setting that is gone is undone"
