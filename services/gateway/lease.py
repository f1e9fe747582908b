"""One replica at a time: a lease in a key-value bucket whose entries expire by themselves."""

import os
import socket
from collections.abc import Awaitable, Callable

import nats.errors
from nats.js.errors import Error as JetStreamError
from nats.js.errors import KeyWrongLastSequenceError
from nats.js.kv import KeyValue

from libs.runtime.bus import Bus
from libs.runtime.streams import bucket_name
from libs.runtime.telemetry import logger

log = logger("gateway.lease")


class Lease:
    """Held while `hold` is called more often than the bucket's entries live."""

    def __init__(self, bucket: Callable[[], Awaitable[KeyValue]], name: str, holder: str) -> None:
        self._open = bucket
        self._name = name
        self._holder = holder.encode()
        self._bucket: KeyValue | None = None
        self._revision: int | None = None

    async def hold(self) -> bool:
        """Take or renew the lease; False when another replica has it or the bus is away."""
        held = self._revision
        self._revision = None
        try:
            bucket = await self._opened()
            if held is not None:
                try:
                    self._revision = await bucket.update(self._name, self._holder, last=held)
                except KeyWrongLastSequenceError:
                    log.info("lease lost", lease=self._name)
            if self._revision is None:
                self._revision = await bucket.create(self._name, self._holder)
        except KeyWrongLastSequenceError:
            return False
        except (nats.errors.Error, JetStreamError, TimeoutError, OSError) as error:
            log.warning("lease not renewed", lease=self._name, error=type(error).__name__)
            return False
        return True

    def guarded(self, task: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
        """`task`, doing nothing where the lease is not held."""

        async def run() -> None:
            if await self.hold():
                await task()

        return run

    async def release(self) -> None:
        """Give it up, so that another replica need not wait."""
        if self._revision is None:
            return
        revision, self._revision = self._revision, None
        bucket = await self._opened()
        await bucket.delete(self._name, last=revision)

    async def _opened(self) -> KeyValue:
        if self._bucket is None:
            self._bucket = await self._open()
        return self._bucket


def reconciler_lease(bus: Bus) -> Lease:
    """The lease of the one gateway replica that reconciles."""
    bucket = bucket_name(bus.prefix, "leases")
    holder = f"{socket.gethostname()}:{os.getpid()}"
    return Lease(lambda: bus.js.key_value(bucket), "reconciler", holder)
