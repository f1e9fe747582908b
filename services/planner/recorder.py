"""The one writer of runs and hits: gathers what arrives into one transaction."""

import asyncio
from datetime import UTC, datetime, timedelta

from nats.aio.msg import Msg
from pydantic import ValidationError

from libs.contracts.events import SearchRan
from libs.contracts.faults import Code
from libs.contracts.subjects import RECORD
from libs.runtime.bus import BODY_KEY, Bus, headers_of, load_body
from libs.runtime.catalog.runs import RunStore
from libs.runtime.objects.port import ObjectStore
from libs.runtime.parking import park
from libs.runtime.telemetry import logger

log = logger("recorder")

BATCH = 64
RETRY_SECONDS = 2.0


class Recorder:
    """`take` each message; a message is acknowledged once its run is stored."""

    def __init__(
        self, bus: Bus, runs: RunStore, objects: ObjectStore, gather_seconds: float
    ) -> None:
        self._bus = bus
        self._runs = runs
        self._objects = objects
        self._gather_seconds = gather_seconds
        self._waiting: list[tuple[SearchRan, asyncio.Future[None]]] = []
        self._flush: asyncio.Task[None] | None = None

    async def take(self, message: Msg) -> None:
        """Store the run that this message carries, together with those beside it."""
        headers = headers_of(message)
        try:
            by_reference = BODY_KEY in headers
            body = await load_body(self._objects, headers) if by_reference else message.data
            ran = SearchRan.model_validate_json(body)
            await self._store(ran)
        except ValidationError:
            detail = "a run that breaks its contract"
            await park(self._bus, message, RECORD, Code.INTERNAL, detail, None)
        except Exception as error:
            log.warning("runs not stored", error=type(error).__name__)
            await message.nak(delay=RETRY_SECONDS)
            return
        await message.ack()

    async def expire(self, days: float) -> None:
        """Remove runs older than so many days."""
        removed = await self._runs.expire(datetime.now(UTC) - timedelta(days=days))
        if removed:
            log.info("runs expired", count=removed)

    async def _store(self, ran: SearchRan) -> None:
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((ran, done))
        if self._flush is None or self._flush.done():
            self._flush = asyncio.create_task(self._write_soon())
        await done

    async def _write_soon(self) -> None:
        await asyncio.sleep(self._gather_seconds)
        batch, self._waiting = self._waiting, []
        try:
            await self._runs.append([ran for ran, _ in batch])
        except Exception as error:
            for _, done in batch:
                done.set_exception(error)
        else:
            for _, done in batch:
                done.set_result(None)
