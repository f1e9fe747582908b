"""A service on a bus where its user may do what it needs, and no more."""

import asyncio
from pathlib import Path
from types import SimpleNamespace

import nats
import pytest

from libs.contracts.events import DocumentAccepted
from libs.contracts.events.base import ArtefactRef
from libs.contracts.subjects import PROFILE, Stage
from libs.runtime import broker
from libs.runtime.buslogin import login_of
from libs.runtime.service import Service
from libs.runtime.settings import Settings
from libs.runtime.streams import bootstrap
from libs.runtime.work import Work
from tests.support.nats import server_with_users
from tests.support.waiting import PATIENCE, until

ACCEPTED = DocumentAccepted(
    namespace="default", document_id="doc-1", revision=1, job_id="job-1", file_name="a.md",
    source=ArtefactRef(key="default/doc-1/1/source/a.md", sha256="0" * 64, size=1),
)  # fmt: skip


class Jobs:
    """What a delivery asks of the catalog."""

    async def standing(self, _job_id: str) -> str:
        return "current"

    async def alive(self, _job_id: str) -> None:
        return None


async def test_a_service_pulls_its_messages_as_its_own_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    troubles: list[str] = []
    log = SimpleNamespace(warning=lambda _event, **fields: troubles.append(fields["detail"]))
    monkeypatch.setattr(broker, "log", log)
    heard: list[str] = []

    async def hear(event: DocumentAccepted, _work: Work) -> None:
        heard.append(event.job_id)

    async def close() -> None:
        return None

    with server_with_users(tmp_path / "nats") as port:
        login = login_of(f"nats://bootstrap:bootstrap@127.0.0.1:{port}").options()
        admin = await nats.connect(**login)
        await bootstrap(admin.jetstream(timeout=30), "groundwire", ack_wait=30)
        await admin.close()
        settings = Settings(
            nats_url=f"nats://profiler:profiler@127.0.0.1:{port}",
            data_dir=tmp_path / "data",
            shutdown_seconds=0.2,
            _env_file=None,
        )  # type: ignore[call-arg]
        service = Service(Stage.PROFILER, settings)
        service.stores.__dict__["catalog"] = SimpleNamespace(jobs=Jobs(), close=close)
        service.hear(PROFILE, DocumentAccepted, hear)
        serving = asyncio.create_task(service.serve())
        gateway = login_of(f"nats://gateway:gateway@127.0.0.1:{port}").options()
        sender = await nats.connect(**gateway)
        body = ACCEPTED.model_dump_json().encode()
        await sender.jetstream().publish("groundwire.gateway.accepted.job-1.1", body)
        await until(lambda: heard or troubles, what="the message or a refusal")
        service.stopping.set()
        await asyncio.wait_for(serving, PATIENCE)
        await sender.close()
    assert (heard, troubles) == (["job-1"], [])
