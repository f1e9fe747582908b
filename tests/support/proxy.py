"""A relay in front of a server, which can be told to fail as networks and servers do."""

import asyncio
import contextlib
import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

_PIECE = 1 << 16


class Proxy:
    """Relays TCP from a loopback port of its own; may be told what to do from any thread.

    `cut` is what a killed server looks like from outside: connections break, new ones are
    refused. `cut_at_answer` waits for the next answer and swallows it, so that a request has
    taken effect and its sender does not know. `hold` lets nothing through, as a paused server
    does, and `delay` slows every piece down by so many seconds. `restore` ends all of that.
    """

    def __init__(self, host: str, port: int) -> None:
        self._target = (host, port)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._at_answer = False
        self.delay = 0.0
        self.port = 0
        self.restore()

    def cut(self) -> None:
        """Break every connection and refuse new ones."""
        self._call(self._cut())

    def cut_at_answer(self) -> None:
        """`cut` instead of the next answer."""
        self._at_answer = True

    def hold(self) -> None:
        """Keep connections, and let nothing through."""
        self._loop.call_soon_threadsafe(self._flowing.clear)

    def restore(self) -> None:
        """Relay as if nothing had been."""
        self._call(self._restore())

    def close(self) -> None:
        """End all."""
        self._call(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    @property
    def open(self) -> bool:
        """Whether connections are taken."""
        return self._server is not None

    def _call(self, doing: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(10)

    async def _restore(self) -> None:
        self._at_answer = False
        self.delay = 0.0
        self._flowing.set()
        if self._server is None:
            self._server = await asyncio.start_server(self._relay, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _cut(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None
        for writer in self._writers:
            writer.transport.abort()
        self._flowing.set()

    async def _end(self) -> None:
        await self._cut()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            there, back = await asyncio.open_connection(*self._target)
        except OSError:
            self._writers.discard(writer)
            writer.transport.abort()
            return
        self._writers.add(back)
        await asyncio.gather(
            self._pump(reader, back, answers=False), self._pump(there, writer, answers=True)
        )
        self._writers -= {writer, back}

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, answers: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while piece := await reader.read(_PIECE):
                await self._flowing.wait()
                if answers and self._at_answer:
                    self._at_answer = False
                    await self._cut()
                    return
                if self.delay:
                    await asyncio.sleep(self.delay)
                writer.write(piece)
                await writer.drain()
        writer.close()


@contextmanager
def proxied(host: str, port: int) -> Iterator[Proxy]:
    """A relay to a server, closed afterwards."""
    proxy = Proxy(host, port)
    try:
        yield proxy
    finally:
        proxy.close()
