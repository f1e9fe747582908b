from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from libs.runtime.models.client import EndpointModel
from libs.runtime.models.settings import Endpoint
from libs.runtime.models.tokens import TokenEstimate
from libs.runtime.models.use import ModelUse
from services.chunker.enrich import Enricher
from tests.support.fakes import Objects
from tests.support.models import FakeModels


@pytest.fixture
async def enricher(server: FakeModels, model_cache: Path) -> AsyncIterator[Enricher]:
    endpoint = Endpoint(url=server.url, name="fake")
    uses = (ModelUse.DESCRIBE, ModelUse.CONTEXT)
    models = [EndpointModel(use, endpoint, TokenEstimate(model_cache)) for use in uses]
    for model in models:
        await model.warm_up()
    made = Enricher(cast(Any, Objects()), *models, at_once=2)
    yield made
    await made.close()
