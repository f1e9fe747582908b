"""What was written by a clock that was ahead is not waited for until the others catch up."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from types import ModuleType

import pytest

from libs.runtime.catalog.port import Catalog
from libs.runtime.catalog.sql import job_release
from libs.runtime.catalog.sql.catalog import open_catalog
from tests.support.catalogs import NS, fast_folder, fresh_database, ready

MINUTE = 60.0


@pytest.fixture
async def catalog() -> AsyncIterator[Catalog]:
    with fast_folder() as folder:
        opened = open_catalog(await fresh_database(folder))
        yield opened
        await opened.close()


def set_clock(monkeypatch: pytest.MonkeyPatch, module: ModuleType, **ahead: float) -> None:
    moment = datetime.now(UTC) + timedelta(**ahead)
    monkeypatch.setattr(module, "now", lambda: moment)


async def test_a_running_job_from_ahead_is_quiet(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ready(catalog, "calm")
    await catalog.jobs.release(10, 10)
    assert await catalog.jobs.quiet(MINUTE, 10) == []
    job = await ready(catalog, "ahead")
    set_clock(monkeypatch, job_release, hours=1)
    await catalog.jobs.release(10, 10)
    assert [one.job_id for one in await catalog.jobs.quiet(MINUTE, 10)] == [job.job_id]
    found = await catalog.jobs.get(NS, job.job_id)
    assert found is not None
    assert found.state == "running"
