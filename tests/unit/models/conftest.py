"""A misbehaving server, and models that ask it without waiting for real."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from pydantic import SecretStr

from libs.runtime.models.client import EndpointModel
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import TokenEstimate
from libs.runtime.models.tries import Clock
from libs.runtime.models.use import ModelUse
from tests.support.models import FakeModels


class FastClock:
    """The loop's time, which sleeping moves forward at once; `slept` holds the seconds."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> float:
        return asyncio.get_running_loop().time() + sum(self.slept)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)

    @property
    def clock(self) -> Clock:
        return Clock(self.now, self.sleep)


@pytest.fixture
def time() -> FastClock:
    return FastClock()


class Open:
    """Makes models, and closes them after the test."""

    def __init__(self, server: FakeModels, time: FastClock, estimate: TokenEstimate) -> None:
        self.server, self.time, self.estimate = server, time, estimate
        self.made: list[EndpointModel] = []

    def __call__(self, keys: str = "key-a", rpm: str = "", url: str | None = None) -> EndpointModel:
        where = self.server.url if url is None else url
        endpoint = Endpoint(url=where, name="fake", keys=SecretStr(keys), rpm=rpm)
        model = EndpointModel(ModelUse.SUMMARY, endpoint, self.estimate, self.time.clock)
        self.made.append(model)
        return model


@pytest.fixture
async def opened(
    server: FakeModels, time: FastClock, token_estimate: TokenEstimate
) -> AsyncIterator[Open]:
    found = Open(server, time, token_estimate)
    yield found
    for model in found.made:
        await model.close()
